import { planRollout } from '#server/domain/rollouts/index.ts';
import { alternate, type Bench, type Figure, figureOf } from '../sections/section.ts';
import { planByHand, prepareByHand } from '../yardsticks/rollout-by-hand.ts';
import { contextAt, endRollouts, extension, givenUnplanned, handler } from './given-rollout.ts';

/** Different declarations of a usual fleet. */
const usual = 20;

/** Measures planning a rollout of every VM: with 20 different declarations, and with a different one on every VM. */
export async function planRows(bench: Bench): Promise<Figure[]> {
  const { deployment, agents, rounds } = bench;
  const client = deployment.services.db.$client;
  await prepareByHand(client);
  const figures: Figure[] = [];
  for (const declarations of [usual, agents.count]) {
    await declareDifferently(bench, declarations);
    const settings = { retain: 9 };
    const measured = await alternate(
      rounds,
      () => planSeconds(bench, settings),
      () => planByHand(client, { handler, settings }),
    );
    figures.push(
      figureOf(
        {
          what: `Plan of ${count(agents.count)} VMs × 3 extensions, ${count(declarations)} declarations`,
          unit: 's',
          against: 'match, order and rows by one statement',
          target: { kind: 'at most', value: declarations === usual ? 1.5 : 6, of: 'ratio' },
        },
        measured,
      ),
    );
  }
  await declareDifferently(bench, 1);
  return figures;
}

const count = (n: number): string => n.toLocaleString('en-US');

/** Gives the VMs this many different settings of the extension, in turn. */
async function declareDifferently({ deployment, say }: Bench, declarations: number): Promise<void> {
  const client = deployment.services.db.$client;
  await client.query(
    `update extensions e set public_settings = json_build_object('retain', 7, 'group', v.n % $2)
      from (select id, row_number() over (order by id) as n from vms) v where e.vm_id = v.id and e.name = $1`,
    [extension, declarations],
  );
  await client.query('vacuum analyze extensions');
  say(`the fleet has ${declarations} declarations`);
}

async function planSeconds({ deployment, say }: Bench, settings: Record<string, unknown>): Promise<number> {
  const { services } = deployment;
  const now = new Date();
  const id = await givenUnplanned(contextAt(services, now), {
    ...{ name: 'bench', select: { all: true } },
    change: { kind: 'set', handler, publicSettings: { merge: settings } },
  });
  const began = performance.now();
  const outcome = await planRollout(services, id, now);
  const seconds = (performance.now() - began) / 1_000;
  const { rows } = await services.db.$client.query<{ state: string; members: number }>(
    'select state, members from rollouts where id = $1',
    [id],
  );
  if (outcome !== 'done' || rows[0]?.state !== 'planned') throw new Error(`The rollout is ${rows[0]?.state}.`);
  say(`${rows[0].members} members planned in ${seconds.toFixed(2)} s`);
  await endRollouts(services.db.$client);
  return seconds;
}

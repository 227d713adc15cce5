import { takeAnswers } from '#server/domain/executions/index.ts';
import { alternate, type Bench, type Figure, figureOf } from '../sections/section.ts';
import { planSha256, systemContext } from './bench-plan.ts';
import { resultOf } from './cycles.ts';

const firstResults = 10;
const repeatsOfOne = 1_000;

/** Measures results that a broker redelivers, against first results, which end executions. */
export async function repeats({ deployment, agents, rounds }: Bench): Promise<Figure> {
  const { services } = deployment;
  const client = services.db.$client;
  const take = async (ids: readonly string[]): Promise<number> => {
    const answers = ids.map((id) => ({ bytes: Buffer.from(resultOf(id)), messageId: null, correlationId: null }));
    const began = performance.now();
    const outcomes = await takeAnswers(systemContext(services), answers);
    const taken = performance.now() - began;
    if (outcomes.some((outcome) => outcome !== 'taken')) throw new Error('A result was not stored.');
    return taken;
  };
  const queue = async (): Promise<string[]> => {
    await client.query(
      `update executions set state = 'lost', due_at = null, concluded_at = now() where due_at is not null`,
    );
    const { rows } = await client.query<{ id: string }>(
      `insert into executions (vm_id, id, plan_id, stamp, turn, state, name, version, plan_sha256, channel, queued_at,
         queued_by, valid_until, timeout_seconds, due_at, handed_out, delivered_at, published_at)
       select v.id, p.id, p.id, n.n, n.n, 'delivered', 'Bench', '', $1, 'amqp', now(), 'bench', now() + interval '1 day',
         3600, now() + interval '1 day', 1, now(), now()
         from (select id from vms order by id limit $2) v, lateral (select gen_random_uuid() as id, v.id as of_vm) p,
           (select 1000000 + coalesce(max(turn), 0) as n from executions) n
       returning id`,
      [planSha256, Math.min(firstResults, agents.count)],
    );
    return rows.map(({ id }) => id);
  };
  let [known = ''] = await queue();
  await take([known]);
  const measured = await alternate(
    rounds,
    () => take(Array.from({ length: repeatsOfOne }, () => known)),
    async () => {
      const ids = await queue();
      const taken = await take(ids);
      known = ids[0] ?? known;
      return taken;
    },
  );
  return figureOf(
    {
      what: `${repeatsOfOne} repeats of one result from a broker`,
      unit: 'ms',
      against: `${firstResults} first results`,
      target: { kind: 'at most', value: 1, of: 'ratio' },
    },
    measured,
  );
}

import type pg from 'pg';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { encryptForCertificate } from '#server/platform/cms.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { alternate, type Bench, type Figure, figureOf } from '../sections/section.ts';
import { prepareByHand, publishByHand } from '../yardsticks/rollout-by-hand.ts';
import {
  beginSteps,
  bulkOf,
  contextAt,
  endRollouts,
  extension,
  givenRunning,
  handler,
  liftLimits,
  newSettings,
  type SettingsChange,
  SimulatedClock,
} from './given-rollout.ts';

/** Goal states in a transaction, as the engine publishes them. */
const batch = 250;
const maxVms = 5_000;
const maxAlone = 400;
const unpublished = '1 declaration after another, each in its own transaction';

/** Measures publishing goal states in batches, against the same rows by hand and against one after the other. */
export async function publishRows(bench: Bench): Promise<Figure[]> {
  const { deployment, agents, rounds } = bench;
  const { services } = deployment;
  const pool = services.db.$client;
  await prepareByHand(pool);
  await liftLimits(services);
  const vmIds = await someVms(pool, Math.min(maxVms, agents.count));
  const clock = new SimulatedClock();
  const ours = () => publishPerSecond(bench, clock, vmIds, newSettings());
  const byHand = await alternate(rounds, ours, () => publishByHand(pool, vmIds, batch));
  const alone = await alternate(rounds, ours, () => setAlone(bench, vmIds.slice(0, maxAlone)));
  const what = `Goal states published by a rollout of ${vmIds.length} VMs, batches of ${batch}`;
  return [
    figureOf(
      { what, unit: '/s', against: 'the same rows by hand', target: { kind: 'at least', value: 0.5, of: 'ratio' } },
      byHand,
    ),
    { ...figureOf({ what, unit: '/s', against: '', target: null }, byHand), ...asked(byHand) },
    figureOf({ what, unit: '/s', against: unpublished, target: { kind: 'at least', value: 8, of: 'ratio' } }, alone),
  ];
}

/** The target without a baseline. */
const asked = (measured: readonly { ours: number }[]): Partial<Figure> => ({
  ...{ yardstick: null, ratio: null, target: { kind: 'at least', value: 3_000, of: 'value' } },
  rounds: measured.map(({ ours }) => ({ ours, yardstick: null })),
});

/** Measures publishing with protected settings, which are encrypted for each VM, against the bare encryptions. */
export async function secretRows(bench: Bench): Promise<Figure[]> {
  const { deployment, agents, rounds } = bench;
  const { services } = deployment;
  await liftLimits(services);
  const vmIds = await someVms(services.db.$client, Math.min(maxVms / 5, agents.count));
  const { certificate } = newKeyPair('RSA 2048');
  await services.db.$client.query(
    `update goal_state_heads set certificate = $2, thumbprint = 'BENCH' where vm_id = any($1::uuid[])`,
    [vmIds, certificate],
  );
  const clock = new SimulatedClock();
  const protectedSettings = { password: 'bench', token: 'x'.repeat(64) };
  const plain = Buffer.from(JSON.stringify(protectedSettings));
  let turn = 0;
  const measured = await alternate(
    rounds,
    () => {
      turn += 1;
      return publishPerSecond(bench, clock, vmIds, { protectedSettings: { ...protectedSettings, turn } });
    },
    () => {
      const began = performance.now();
      for (let n = 0; n < vmIds.length; n += 1) encryptForCertificate(certificate, plain);
      return Promise.resolve(vmIds.length / ((performance.now() - began) / 1_000));
    },
  );
  return [
    figureOf(
      {
        what: `Goal states with protected settings published by a rollout of ${vmIds.length} VMs`,
        unit: '/s',
        against: 'CMS encryptions for an RSA key, one core',
        target: { kind: 'at least', value: 0.6, of: 'ratio' },
      },
      measured,
    ),
  ];
}

async function someVms(pool: pg.Pool, count: number): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>('select id from vms order by id limit $1', [count]);
  return rows.map(({ id }) => id);
}

/** Lets the engine begin every step of a rollout of these VMs. Returns steps per second, without planning. */
async function publishPerSecond(
  { deployment }: Bench,
  clock: SimulatedClock,
  vmIds: readonly string[],
  change: SettingsChange,
): Promise<number> {
  const { services } = deployment;
  const id = await givenRunning(services, bulkOf(change, { ids: [...vmIds] }), clock);
  const began = performance.now();
  await beginSteps(services, clock, id, vmIds.length);
  const perSecond = vmIds.length / ((performance.now() - began) / 1_000);
  await endRollouts(services.db.$client);
  return perSecond;
}

/** Declares an extension on one VM after the other, as people and scripts do. Returns VMs per second. */
async function setAlone({ deployment }: Bench, vmIds: readonly string[]): Promise<number> {
  const { services } = deployment;
  const { rows } = await services.db.$client.query<{ version: string }>(
    'select version from extensions where vm_id = $1 and name = $2',
    [vmIds[0], extension],
  );
  const goal = { handler, version: rows[0]?.version ?? '', state: 'enabled' as const };
  const began = performance.now();
  for (const vmId of vmIds) {
    const settings = { publicSettings: { retain: Date.now() } };
    await setExtension(contextAt(services, new Date()), { vmId, name: extension, goal: { ...goal, settings } });
  }
  return vmIds.length / ((performance.now() - began) / 1_000);
}

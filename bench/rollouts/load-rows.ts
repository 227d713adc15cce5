import { defaultRules } from '#server/domain/rollout-rules/strategies.ts';
import { setRolloutRules } from '#server/domain/rollouts/index.ts';
import { type ClosedLoopResult, runClosedLoop } from '../load/closed-loop.ts';
import { alternate, type Bench, type Figure, figureOf } from '../sections/section.ts';
import { bulkOf, contextAt, countSteps, endRollouts, givenRunning, newSettings } from './given-rollout.ts';
import { startIdleWorker } from './worker-rows.ts';

const connections = 64;
const stepsPerSecond = 100;

/** Measures reports while a rollout begins 100 steps a second, against the same reports while it waits. */
export async function loadRows(bench: Bench): Promise<Figure[]> {
  const { deployment, agents, rounds, seconds } = bench;
  const { services } = deployment;
  const [gateway] = deployment.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  await startIdleWorker(bench);
  await freeze(bench, true);
  let id = '';
  const measure = async (isFrozen: boolean): Promise<ClosedLoopResult & { begun: number }> => {
    if (!isFrozen) id = await givenRunning(services, { ...bulkOf(newSettings()), stepsPerSecond });
    await freeze(bench, isFrozen);
    const before = isFrozen ? 0 : await countSteps(services.db.$client, id);
    const result = await runClosedLoop({
      ...{ host: gateway.host, port: gateway.port, connections, seconds, warmUpSeconds: 1, wanted: [204] },
      agents: agents.count,
      request: (agent) => agents.report(agent, 'changed'),
    });
    if (result.tally.failures > 0) throw new Error(`Reports failed: ${result.tally.complaint()}`);
    const begun = isFrozen ? 0 : (await countSteps(services.db.$client, id)) - before;
    await freeze(bench, true);
    if (!isFrozen) await endRollouts(services.db.$client);
    return { ...result, begun };
  };
  const measured = await alternate(
    rounds,
    () => measure(false),
    () => measure(true),
  );
  await freeze(bench, false);
  const against = 'the same reports without a rollout';
  const begun = measured.reduce((sum, { ours }) => sum + ours.begun, 0) / rounds / (seconds + 1);
  const what = `Reports with a changed status while a rollout begins ${stepsPerSecond} steps a second`;
  return [
    figureOf(
      {
        ...{ what, unit: '/s', against, target: { kind: 'at least', value: 0.9, of: 'ratio' } },
        note: `${begun.toFixed(0)} steps a second began`,
      },
      measured.map(({ ours, yardstick }) => ({ ours: ours.perSecond, yardstick: yardstick.perSecond })),
    ),
    figureOf(
      { what: `${what}, p99`, unit: 'ms', against, target: { kind: 'at most', value: 2, of: 'ratio' } },
      measured.map(({ ours, yardstick }) => ({
        ours: ours.tally.latencies.percentiles().p99,
        yardstick: yardstick.tally.latencies.percentiles().p99,
      })),
    ),
  ];
}

/** Forbids steps to begin, or allows it. What is open stays open. */
async function freeze({ deployment }: Bench, isFrozen: boolean): Promise<void> {
  const now = Date.now();
  const day = { from: new Date(now - 60_000).toISOString(), to: new Date(now + 86_400_000).toISOString() };
  await setRolloutRules(contextAt(deployment.services, new Date()), {
    ...{ ...defaultRules, stepsPerSecond, inFlight: 20_000 },
    freezes: isFrozen ? [{ ...day, reason: 'bench', exempt: [] }] : [],
  });
}

import type { StatusKind } from '../load/agents.ts';
import { type ClosedLoopResult, runClosedLoop } from '../load/closed-loop.ts';
import { prepareTwoStatements } from '../yardsticks/two-statements.ts';
import { alternate, type Bench, type Figure, figureOf } from './section.ts';

const many = 128;
const few = 8;

/** Measures reports, which are acknowledged after their commit, against a bare transaction. */
export async function report({ deployment, agents, rounds, seconds }: Bench): Promise<Figure[]> {
  const [gateway] = deployment.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  const yardstick = await prepareTwoStatements(deployment.databaseUrl, agents.count);
  const send = async (connections: number, status: StatusKind): Promise<ClosedLoopResult> => {
    const result = await runClosedLoop({
      ...{ host: gateway.host, port: gateway.port, connections, seconds, warmUpSeconds: 1, wanted: [204] },
      agents: agents.count,
      request: (agent) => agents.report(agent, status),
    });
    if (result.tally.failures > 0) throw new Error(`Reports failed: ${result.tally.complaint()}`);
    return result;
  };
  const pushed = await alternate(
    rounds,
    () => send(many, 'changed'),
    () => yardstick.run(16, seconds),
  );
  const unchanged = await alternate(
    rounds,
    () => send(many, 'none'),
    () => yardstick.run(16, seconds),
  );
  const single = await alternate(
    rounds,
    () => send(few, 'changed'),
    () => yardstick.run(1, seconds),
  );
  const { by } = yardstick;
  return [
    figureOf(
      {
        what: `Report of a heartbeat and a changed status, committed, ${many} connections`,
        unit: '/s',
        against: `${by}, two statements, c16`,
        target: { kind: 'at least', value: 2.5, of: 'ratio' },
      },
      pushed.map(({ ours, yardstick: theirs }) => ({ ours: ours.perSecond, yardstick: theirs.perSecond })),
    ),
    figureOf(
      {
        what: `Report of an unchanged heartbeat, committed, ${many} connections`,
        unit: '/s',
        against: `${by}, two statements, c16`,
        target: null,
      },
      unchanged.map(({ ours, yardstick: theirs }) => ({ ours: ours.perSecond, yardstick: theirs.perSecond })),
    ),
    figureOf(
      {
        what: `Report of a heartbeat and a changed status, ${few} connections, p50`,
        unit: 'ms',
        against: `${by}, two statements, c1, p50`,
        target: { kind: 'at most', value: 3, of: 'ratio' },
      },
      single.map(({ ours, yardstick: theirs }) => ({
        ours: ours.tally.latencies.percentiles().p50,
        yardstick: theirs.p50Ms,
      })),
    ),
  ];
}

import { readUsage } from '../house/processes.ts';
import { type ClosedLoopResult, runClosedLoop } from '../load/closed-loop.ts';
import { Connection, type Reply } from '../load/connection.ts';
import { startBareHttp } from '../yardsticks/bare-http.ts';
import { alternate, type Bench, type Figure, figureOf } from './section.ts';

const connections = 64;

/** Unchanged polls: what one CPU-second of the gateway answers, against node:http that only writes the same headers. */
export async function poll({ house, agents, rounds, seconds }: Bench): Promise<Figure[]> {
  const [gateway] = house.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  const headers = await headersOfUnchanged(gateway.host, gateway.port, agents.poll(1));
  const bare = await startBareHttp(headers);
  const measure = async (host: string, port: number, pid: number): Promise<ClosedLoopResult> => {
    const result = await runClosedLoop({
      ...{ host, port, connections, seconds, warmUpSeconds: 1, wanted: [304] },
      agents: agents.count,
      request: (agent) => agents.poll(agent),
      meter: () => readUsage(pid).cpuSeconds,
    });
    if (result.tally.failures > 0) throw new Error(`Polls went wrong: ${result.tally.complaint()}`);
    return result;
  };
  try {
    const measured = await alternate(
      rounds,
      () => measure(gateway.host, gateway.port, gateway.child.pid() ?? 0),
      () => measure(bare.host, bare.port, bare.pid),
    );
    const perCpu = ({ tally, metered }: ClosedLoopResult): number => tally.good / metered;
    return [
      figureOf(
        {
          what: 'Unchanged poll, per CPU-second of the gateway',
          unit: '/s',
          against: 'bare node:http, same headers',
          target: { kind: 'at least', value: 0.8, of: 'ratio' },
        },
        measured.map(({ ours, yardstick }) => ({ ours: perCpu(ours), yardstick: perCpu(yardstick) })),
      ),
      figureOf(
        {
          what: `Unchanged poll, answered per second (${connections} connections)`,
          unit: '/s',
          against: 'bare node:http, same headers',
          target: null,
        },
        measured.map(({ ours, yardstick }) => ({ ours: ours.perSecond, yardstick: yardstick.perSecond })),
      ),
    ];
  } finally {
    await bare.stop();
  }
}

/** The headers of one real answer, without those that node:http adds by itself. */
async function headersOfUnchanged(host: string, port: number, request: string): Promise<Record<string, string>> {
  const connection = new Connection(host, port);
  const reply = await new Promise<Reply>((resolve) => connection.send(request, resolve));
  connection.close();
  if (reply.status !== 304) throw new Error(`A first poll was answered with ${reply.error ?? reply.status}.`);
  const lines = reply.head
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(/: (.*)/, 2) as [string, string]);
  return Object.fromEntries(lines.filter(([name]) => !/^(date|connection|keep-alive)$/i.test(name)));
}

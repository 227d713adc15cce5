import { pathToFileURL } from 'node:url';
import type { Gateway } from '../deployment/deployment.ts';
import { readCpuMs } from '../deployment/processes.ts';
import type { Agents } from '../load/agents.ts';
import { ConnectionPool } from '../load/pool.ts';
import { type Bench, type Figure, figureOf, medianInterval } from '../sections/section.ts';

const connections = 16;
/**
 * Number of polls in one measurement. They take a few tenths of a second, short enough that other load affects both
 * measurements of a pair alike.
 */
const polls = 5_000;
/** Number of gateway pairs. Several are needed, because two processes with the same code differ by a few percent. */
const processes = 4;
const pairsPerRound = 8;

/** Measures unchanged polls against a gateway whose polls read nothing about executions. */
export async function unchangedPolls({ deployment, agents, rounds, say }: Bench): Promise<Figure> {
  const without = pathToFileURL(`${import.meta.dirname}/../yardsticks/without-executions.ts`).href;
  const measured: { ours: number; yardstick: number }[] = [];
  for (let n = 0; n < processes; n += 1) {
    const ours = await openPolled(await deployment.startGateway({}), agents);
    const bare = await openPolled(await deployment.startGateway({ NODE_OPTIONS: `--import=${without}` }), agents);
    // Before the measurement, every agent calls each gateway, so that the code is compiled.
    for (const each of [ours, bare, ours, bare]) await each.poll(Math.max(agents.count, 3 * polls));
    for (let pair = 0; pair < rounds * pairsPerRound; pair += 1) {
      const isOursFirst = pair % 2 === 0;
      const first = await (isOursFirst ? ours : bare).poll(polls);
      const second = await (isOursFirst ? bare : ours).poll(polls);
      measured.push(isOursFirst ? { ours: first, yardstick: second } : { ours: second, yardstick: first });
    }
    await Promise.all([ours.stop(), bare.stop()]);
    say(`polls: ${n + 1} of ${processes} pairs of gateways are measured`);
  }
  const [low, high] = medianInterval(measured.map(({ ours, yardstick }) => ours / yardstick));
  return figureOf(
    {
      what: 'Unchanged poll, per CPU-second of the gateway',
      unit: '/s',
      against: 'the same gateway without executions',
      target: { kind: 'at least', value: 0.97, of: 'ratio' },
      note: `the ratio is between ${low.toFixed(3)} and ${high.toFixed(3)} (95% confidence, ${measured.length} pairs).`,
    },
    measured,
  );
}

interface PolledGateway {
  /** Polls `count` times. Returns the polls per CPU-second. */
  poll(count: number): Promise<number>;
  stop(): Promise<void>;
}

async function openPolled({ host, port, child }: Gateway, agents: Agents): Promise<PolledGateway> {
  const pool = new ConnectionPool(host, port, connections);
  const pid = child.pid() ?? 0;
  let agent = 0;
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      agent = (agent % agents.count) + 1;
      pool.send(agents.poll(agent), ({ status, error }) => {
        if (status === 304) resolve();
        else reject(new Error(`A poll was answered with ${error ?? status}.`));
      });
    });
  return {
    async poll(count) {
      let left = count;
      const before = readCpuMs(pid);
      const work = async (): Promise<void> => {
        for (; left > 0; ) {
          left -= 1;
          await one();
        }
      };
      await Promise.all(Array.from({ length: connections }, work));
      return (1_000 * count) / (readCpuMs(pid) - before);
    },
    async stop() {
      pool.close();
      await child.stop();
    },
  };
}

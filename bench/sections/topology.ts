import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Inventory, place } from '#server/domain/topology-rules/place.ts';
import { readCpuMs } from '../deployment/processes.ts';
import { dial, type Middle, startMiddle, startTarget } from '../topology/middle.ts';
import { alternate, type Bench, type Figure, figureOf, median } from './section.ts';

const proxyFile = join(import.meta.dirname, '..', 'topology', 'proxy-process.ts');
const pipeFile = join(import.meta.dirname, '..', 'yardsticks', 'bare-pipe.ts');
const chunk = Buffer.alloc(64 * 1024);
const message = Buffer.alloc(1_024);
const connections = 1_000;

/** Measures the proxy of public addresses against a pipe of two sockets, and placement in a large model. */
export async function topology(bench: Bench): Promise<Figure[]> {
  return [await throughput(bench), await roundTrips(bench), placement(bench)];
}

/** Runs a measurement for the proxy and for the bare pipe, which lead to the same target. */
async function beside(
  { rounds }: Bench,
  target: Awaited<ReturnType<typeof startTarget>>,
  measure: (middle: Middle) => Promise<number>,
): Promise<{ ours: number; yardstick: number }[]> {
  const [proxy, pipe] = [await startMiddle(proxyFile, target), await startMiddle(pipeFile, target)];
  try {
    return await alternate(
      rounds,
      () => measure(proxy),
      () => measure(pipe),
    );
  } finally {
    await Promise.all([proxy.stop(), pipe.stop()]);
    await target.stop();
  }
}

async function throughput(bench: Bench): Promise<Figure> {
  let received = 0;
  const target = await startTarget((socket) => {
    socket.on('data', (data: Buffer) => {
      received += data.length;
    });
  });
  const measured = await beside(bench, target, async (middle) => {
    const socket = await dial(middle);
    let isOver = false;
    const pump = (): void => {
      while (!isOver && socket.write(chunk));
    };
    socket.on('drain', pump);
    pump();
    await delay(300);
    const [before, begun] = [received, performance.now()];
    await delay(bench.seconds * 1_000);
    const perSecond = ((received - before) * 1_000) / (performance.now() - begun);
    isOver = true;
    socket.destroy();
    return perSecond / 1_000_000;
  });
  return figureOf(
    {
      ...{ what: 'Bytes through the proxy, 1 connection', unit: 'MB/s', against: 'a pipe of two sockets' },
      target: { kind: 'at least', value: 0.9, of: 'ratio' },
    },
    measured,
  );
}

async function roundTrips(bench: Bench): Promise<Figure> {
  const target = await startTarget((socket) => void socket.pipe(socket));
  const measured = await beside(bench, target, async (middle) => {
    const sockets = await Promise.all(Array.from({ length: connections }, () => dial(middle)));
    let done = 0;
    for (const socket of sockets) {
      let missing = message.length;
      socket.on('data', (data: Buffer) => {
        missing -= data.length;
        if (missing > 0) return;
        missing = message.length;
        done += 1;
        socket.write(message);
      });
      socket.write(message);
    }
    await delay(500);
    const [before, cpu] = [done, readCpuMs(middle.pid)];
    await delay(bench.seconds * 1_000);
    const perCpuSecond = ((done - before) * 1_000) / (readCpuMs(middle.pid) - cpu);
    for (const socket of sockets) socket.destroy();
    await delay(200);
    return perCpuSecond;
  });
  return figureOf(
    {
      ...{ what: `Round trips of 1 kB through the proxy, per CPU-second, ${connections} connections`, unit: '/s' },
      ...{ against: 'a pipe of two sockets', target: { kind: 'at least', value: 0.9, of: 'ratio' } },
    },
    measured,
  );
}

/** Measures the placement of a unit in a model with 10,000 machines, against one with 1,000. */
function placement({ rounds }: Bench): Figure {
  const [large, small] = [inventoryOf(10_000), inventoryOf(1_000)];
  const measured = Array.from({ length: rounds }, () => ({ ours: placeMs(large), yardstick: placeMs(small) }));
  return figureOf(
    {
      ...{ what: 'Placing a unit in a model with 10,000 machines, p50', unit: 'ms' },
      ...{ against: 'the same with 1,000 machines', target: { kind: 'at most', value: 15, of: 'ratio' } },
    },
    measured,
  );
}

const tenLetters = (n: number): string => n.toString(36).padStart(10, '0');

/** Returns a model whose machines all have units of one service, which is the most expensive case. */
function inventoryOf(machines: number): { inventory: Inventory; group: string[] } {
  const service = `juju-bench-${tenLetters(0)}`;
  const roles = Array.from({ length: machines }, (_, n) => `juju${tenLetters(n)}`);
  const inventory: Inventory = {
    ...{ model: 'bench', availabilitySetsEnabled: true },
    services: new Map([[service, { label: null, state: 'ready', roles: new Set(roles) }]]),
    machines: new Map(roles.map((_, n) => [n, { state: 'ready', isController: false }])),
    isNameTaken: (name) => name === service,
  };
  return { inventory, group: roles.map((role) => `${service}-${role}`) };
}

function placeMs({ inventory, group }: ReturnType<typeof inventoryOf>): number {
  let drawn = 1_000_000;
  const draw = (): string => {
    drawn += 1;
    return tenLetters(drawn);
  };
  const taken = Array.from({ length: 50 }, () => {
    const begun = performance.now();
    place(inventory, { for: 'unit', group }, draw);
    return performance.now() - begun;
  });
  return median(taken);
}

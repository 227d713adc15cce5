import { readCpuMs } from '../deployment/processes.ts';
import type { Agents } from '../load/agents.ts';
import { Connection, type HttpReply, headerOf } from '../load/connection.ts';
import { ConnectionPool } from '../load/pool.ts';
import { alternate, type Bench, type Figure, figureOf, median } from '../sections/section.ts';
import type { BenchUnit, World } from './world.ts';

const looksPerRound = 40;
const pollsPerRound = 3_000;
const connections = 16;

/** What an agent does without the database, as one statement per look: its unit, and the member that moved. */
const bareLook = [
  `select u.id, u.name, u.turn, u.record, s.exposed, v.manifest, v.sha256, v.size from units u
     join services s on s.id = u.service_id
     join handler_versions v on v.handler = s.formula and v.version = u.formula_version
    where u.vm_id = $1 and u.removed_at is null`,
  `select r.id, r.clock, u.name, m.version, m.clock from relation_units p
     join relations r on r.id = p.relation_id
     join relation_units m on m.relation_id = r.id and m.unit_id <> p.unit_id and m.clock > $2
     join units u on u.id = m.unit_id
    where p.unit_id = $1`,
] as const;

/** Number of units that look in turn, because the gateway limits the calls of each VM. */
const maxReaders = 40;

/** Measures what agents with units ask for: a look with one changed member, and unchanged polls. */
export async function looks(
  bench: Bench,
  world: World,
  vmIds: readonly string[],
  numbers: ReadonlyMap<string, number>,
): Promise<Figure[]> {
  const readers = vmIds.slice(-Math.min(maxReaders, vmIds.length - 1));
  const { providers, requirers, relations } = await world.related('looked', {
    providers: vmIds.slice(0, vmIds.length - readers.length),
    requirers: readers,
  });
  const [writer, relation] = [providers[0], relations[0] ?? 0];
  if (writer === undefined) throw new Error('no unit');
  await world.flushMs(writer, relation, -1);
  await world.client.query('analyze');
  const numberOf = ({ vmId }: BenchUnit): number => numbers.get(vmId) ?? 0;
  return [
    await oneLook(bench, world, { readers: requirers, numberOf, relation, members: providers.length }),
    await unchangedPolls(bench, [...providers, ...requirers].map(numberOf)),
  ];
}

interface Look {
  readers: readonly BenchUnit[];
  numberOf(unit: BenchUnit): number;
  relation: number;
  members: number;
}

async function oneLook(
  { deployment, agents, rounds }: Bench,
  world: World,
  { readers, numberOf, relation, members }: Look,
): Promise<Figure> {
  const [gateway] = deployment.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  const { rows } = await world.client.query<{ clock: string }>('select clock from relations where id = $1', [relation]);
  const held = Number(rows[0]?.clock) - 1;
  const { epoch } = deployment.services;
  const connection = new Connection(gateway.host, gateway.port);
  let turn = 0;
  const nextReader = (): BenchUnit => {
    turn += 1;
    return readers[turn % readers.length] as BenchUnit;
  };
  const timed = async (act: () => Promise<unknown>): Promise<number> => {
    const taken: number[] = [];
    for (let n = 0; n < looksPerRound; n += 1) {
      const began = performance.now();
      await act();
      taken.push(performance.now() - began);
    }
    return median(taken);
  };
  const look = async (): Promise<void> => {
    const path = `/units?epoch=${epoch}&after=${relation}:${held}`;
    const request = requestOf(agents, numberOf(nextReader()), path);
    const { status, body } = await new Promise<HttpReply>((resolve) => connection.send(request, resolve));
    if (status !== 200 || !body.includes('"whole":false'))
      throw new Error(`A look was answered with ${status}: ${body}`);
  };
  const client = await world.client.connect();
  const [ofUnit, ofMembers] = bareLook;
  const byHand = async (): Promise<void> => {
    const reader = nextReader();
    await client.query({ name: 'bare-look', text: ofUnit, values: [reader.vmId] });
    await client.query({ name: 'bare-members', text: ofMembers, values: [reader.id, held] });
  };
  try {
    await timed(look);
    const measured = await alternate(
      rounds,
      () => timed(look),
      () => timed(byHand),
    );
    return figureOf(
      {
        ...{ what: `A look with 1 of ${members} members changed, p50`, unit: 'ms', against: 'the same SQL by hand' },
        target: { kind: 'at most', value: 1.6, of: 'ratio' },
      },
      measured,
    );
  } finally {
    client.release();
    connection.close();
  }
}

/** Measures unchanged polls with a stamp against polls without one, at the same gateway. */
async function unchangedPolls({ deployment, agents, rounds }: Bench, numbers: readonly number[]): Promise<Figure> {
  const gateway = await deployment.startGateway({ ANNEX_VM_RATE: '0' });
  const pool = new ConnectionPool(gateway.host, gateway.port, connections);
  const pid = gateway.child.pid() ?? 0;
  const polls = Math.min(pollsPerRound, 3 * numbers.length);
  const send = (request: string): Promise<HttpReply> => new Promise((resolve) => pool.send(request, resolve));
  const withStamp = (n: number, stamp: string) =>
    agents.poll(n).replace('\r\n\r\n', `\r\nAnnex-Units: ${stamp}\r\n\r\n`);
  const stamps = new Map<number, string>();
  for (const n of numbers) stamps.set(n, headerOf((await send(withStamp(n, '"old.0.0"'))).head, 'annex-units'));
  let turn = 0;
  const measure = async (request: (n: number) => string): Promise<number> => {
    const before = readCpuMs(pid);
    let left = polls;
    const work = async (): Promise<void> => {
      for (; left > 0; ) {
        left -= 1;
        turn += 1;
        const { status, error } = await send(request(numbers[turn % numbers.length] ?? 0));
        if (status !== 304) throw new Error(`A poll was answered with ${error ?? status}.`);
      }
    };
    await Promise.all(Array.from({ length: Math.min(connections, Math.ceil(numbers.length / 2)) }, work));
    return (1_000 * polls) / (readCpuMs(pid) - before);
  };
  const stamped = (n: number) => withStamp(n, stamps.get(n) ?? '');
  const plain = (n: number) => agents.poll(n);
  try {
    for (const request of [stamped, plain]) await measure(request);
    return figureOf(
      {
        ...{ what: 'Unchanged poll with units, per CPU-second of the gateway', unit: '/s', against: 'without units' },
        target: { kind: 'at least', value: 0.95, of: 'ratio' },
      },
      await alternate(
        rounds * 4,
        () => measure(stamped),
        () => measure(plain),
      ),
    );
  } finally {
    pool.close();
    await gateway.child.stop();
  }
}

function requestOf(agents: Agents, n: number, path: string): string {
  const { authorization, 'annex-agent': agent } = agents.headersOf(n);
  return `GET /agent/v1${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: ${authorization}\r\nAnnex-Agent: ${agent}\r\n\r\n`;
}

import { readCpuMs } from '../deployment/processes.ts';
import type { Agents } from '../load/agents.ts';
import { Connection, type HttpReply, headerOf } from '../load/connection.ts';
import { ConnectionPool } from '../load/pool.ts';
import { alternate, type Bench, type Figure, figureOf, median } from '../sections/section.ts';
import type { World } from './world.ts';

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

/** Measures what agents with units ask for: a look with one changed member, and unchanged polls. */
export async function looks(
  bench: Bench,
  world: World,
  vmIds: readonly string[],
  numbers: ReadonlyMap<string, number>,
): Promise<Figure[]> {
  const { providers, requirers, relations } = await world.related('looked', {
    providers: vmIds.slice(0, 999),
    requirers: vmIds.slice(-1),
  });
  const [writer, reader, relation] = [providers[0], requirers[0], relations[0] ?? 0];
  if (writer === undefined || reader === undefined) throw new Error('no unit');
  await world.flushMs(writer, relation, -1);
  await world.client.query('analyze');
  const number = numbers.get(reader.vmId) ?? 0;
  return [
    await oneLook(bench, world, { reader, number, relation, members: providers.length }),
    await unchangedPolls(bench, number),
  ];
}

async function oneLook(
  { deployment, agents, rounds }: Bench,
  world: World,
  {
    reader,
    number,
    relation,
    members,
  }: { reader: { id: string; vmId: string }; number: number; relation: number; members: number },
): Promise<Figure> {
  const [gateway] = deployment.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  const { rows } = await world.client.query<{ clock: string }>('select clock from relations where id = $1', [relation]);
  const held = Number(rows[0]?.clock) - 1;
  const { epoch } = deployment.services;
  const connection = new Connection(gateway.host, gateway.port);
  const get = (path: string): Promise<HttpReply> =>
    new Promise((resolve) => connection.send(requestOf(agents, number, path), resolve));
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
    const { status, body } = await get(`/units?epoch=${epoch}&after=${relation}:${held}`);
    if (status !== 200 || !body.includes('"whole":false'))
      throw new Error(`A look was answered with ${status}: ${body}`);
  };
  const client = await world.client.connect();
  const [ofUnit, ofMembers] = bareLook;
  const byHand = async (): Promise<void> => {
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
async function unchangedPolls({ deployment, agents, rounds }: Bench, number: number): Promise<Figure> {
  const gateway = await deployment.startGateway({});
  const pool = new ConnectionPool(gateway.host, gateway.port, connections);
  const pid = gateway.child.pid() ?? 0;
  const send = (request: string): Promise<HttpReply> => new Promise((resolve) => pool.send(request, resolve));
  const withStamp = (stamp: string) => agents.poll(number).replace('\r\n\r\n', `\r\nAnnex-Units: ${stamp}\r\n\r\n`);
  const stamp = headerOf((await send(withStamp('"old.0.0"'))).head, 'annex-units');
  const measure = async (request: () => string): Promise<number> => {
    const before = readCpuMs(pid);
    let left = pollsPerRound;
    const work = async (): Promise<void> => {
      for (; left > 0; ) {
        left -= 1;
        const { status, error } = await send(request());
        if (status !== 304) throw new Error(`A poll was answered with ${error ?? status}.`);
      }
    };
    // One agent polls, and each of its calls has the next number, so only one is under way.
    await work();
    return (1_000 * pollsPerRound) / (readCpuMs(pid) - before);
  };
  const [stamped, plain] = [() => withStamp(stamp), () => agents.poll(number)];
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

import { pathToFileURL } from 'node:url';
import type pg from 'pg';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, systemOrigin } from '#server/domain/context.ts';
import { listExecutions } from '#server/domain/executions/index.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import type { Gateway } from '../deployment/deployment.ts';
import { type Agents, instanceOf } from '../load/agents.ts';
import { Connection, type HttpReply } from '../load/connection.ts';
import { prepareTwoStatements } from '../yardsticks/two-statements.ts';
import { perCpuSecond } from './poll.ts';
import { alternate, type Bench, type Figure, figureOf, median } from './section.ts';

const connections = 64;
/** Polls per second. The rate leaves both gateways idle time, even on a busy machine. */
const rate = 2_000;
const manyPast = 50_000;
const fewPast = 50;
const listsPerRound = 40;

const plan = '{"FormatVersion":"2.0.0","Name":"Bench","Body":"return 1","Scripts":{}}';
const planSha256 = sha256Hex(plan);

/** Measures how much executions slow down polls, and how fast agents take executions and pages list them. */
export async function executions(bench: Bench): Promise<Figure[]> {
  const client = bench.deployment.services.db.$client;
  await client.query('insert into execution_plans values ($1, $2, now())', [planSha256, plan]);
  return [await unchangedPolls(bench), await cycles(bench, client), await lists(bench, client)];
}

/** Unchanged polls, against a gateway whose polls read nothing about executions. */
async function unchangedPolls({ deployment, agents, rounds, seconds }: Bench): Promise<Figure> {
  const [gateway] = deployment.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  const without = pathToFileURL(`${import.meta.dirname}/../yardsticks/without-executions.ts`).href;
  const bare = await deployment.startGateway({ NODE_OPTIONS: `--import=${without}` });
  const measure = ({ host, port, child }: Gateway, duration = seconds): Promise<number> =>
    perCpuSecond({
      ...{ host, port, pid: child.pid() ?? 0, seconds: duration, rate, agents: agents.count },
      request: (agent) => agents.poll(agent),
    });
  // Every agent calls each gateway once before the measurement.
  for (const each of [gateway, bare]) await measure(each, Math.max(5, agents.count / rate));
  const measured = await alternate(
    rounds,
    () => measure(gateway),
    () => measure(bare),
  );
  await bare.child.stop();
  return figureOf(
    {
      what: `Unchanged poll, per CPU-second of the gateway (${rate}/s)`,
      unit: '/s',
      against: 'the same gateway without executions',
      target: { kind: 'at least', value: 0.97, of: 'ratio' },
    },
    measured,
  );
}

/** Executions that agents take and answer: next, two progress reports, and the result, each committed. */
async function cycles({ deployment, agents, rounds, seconds }: Bench, client: pg.Pool): Promise<Figure> {
  const [gateway] = deployment.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  const yardstick = await prepareTwoStatements(deployment.databaseUrl, agents.count);
  const measured = await alternate(
    rounds,
    async () => {
      await queueForAll(client);
      return cyclesPerSecond(gateway, agents, seconds);
    },
    async () => (await yardstick.run(16, seconds)).perSecond,
  );
  return figureOf(
    {
      what: `Execution taken and answered, four committed calls, ${connections} connections`,
      unit: '/s',
      against: `${yardstick.by}, two statements, c16`,
      target: { kind: 'at least', value: 0.35, of: 'ratio' },
    },
    measured,
  );
}

/** Ends the executions of earlier rounds, and queues one for each VM. */
async function queueForAll(client: pg.Pool): Promise<void> {
  await client.query(
    `update executions set state = 'lost', due_at = null, concluded_at = now() where due_at is not null`,
  );
  await client.query(
    `insert into executions (vm_id, id, plan_id, stamp, turn, state, name, version, plan_sha256, channel, queued_at,
       queued_by, valid_until, timeout_seconds, due_at)
     select v.id, p.id, p.id, n.n, n.n, 'queued', 'Bench', '', $1, 'https', now(), 'bench', now() + interval '1 day', 3600,
       now() + interval '1 day'
       from vms v, lateral (select gen_random_uuid() as id, v.id as of_vm) p,
         (select 1000000 + coalesce(max(turn), 0) as n from executions) n`,
    [planSha256],
  );
  await client.query('analyze executions');
}

async function cyclesPerSecond({ host, port }: Gateway, agents: Agents, seconds: number): Promise<number> {
  const until = performance.now() + seconds * 1_000;
  let done = 0;
  const one = async (first: number): Promise<void> => {
    const connection = new Connection(host, port);
    const send = async (
      wanted: number,
      ...[n, method, path, body]: Parameters<Agents['execution']>
    ): Promise<string> => {
      const reply = await new Promise<HttpReply>((resolve) =>
        connection.send(agents.execution(n, method, path, body), resolve),
      );
      if (reply.status !== wanted) throw new Error(`${method} ${path}: ${reply.error ?? reply.status} ${reply.body}`);
      return reply.body;
    };
    for (let n = first; n <= agents.count && performance.now() < until; n += connections) {
      const { id } = JSON.parse(await send(200, n, 'GET', 'next')) as { id: string };
      await send(204, n, 'PUT', `${id}/progress`, '{"run":1,"state":"received","sentMsAgo":0}');
      await send(204, n, 'PUT', `${id}/progress`, '{"run":1,"state":"running","sentMsAgo":0}');
      await send(204, n, 'PUT', `${id}/result`, resultOf(id));
      done += 1;
    }
    connection.close();
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: connections }, (_, index) => one(index + 1)));
  return done / ((performance.now() - began) / 1_000);
}

const resultOf = (id: string): string =>
  JSON.stringify({
    ...{ FormatVersion: '2.0.0', ID: '6f1c2b7a9d3e4f50a1b2c3d4e5f60718', SourceID: id, Action: 'Execute:Result' },
    ...{ ErrorCode: 0, Body: null, Time: '2026-11-22T09:15:04.120Z' },
  });

/** The first page of the list of a VM's executions. */
async function lists({ deployment, rounds }: Bench, client: pg.Pool): Promise<Figure> {
  const [many, few] = [await givenPast(client, 1, manyPast), await givenPast(client, 2, fewPast)];
  await client.query('vacuum analyze executions');
  const ctx: Context = {
    ...deployment.services,
    ...{ actor: systemActor, origin: systemOrigin, now: new Date(), requestId: 'bench' },
  };
  const measure = async (vmId: string): Promise<number> => {
    const taken: number[] = [];
    for (let n = 0; n < listsPerRound; n += 1) {
      const began = performance.now();
      await listExecutions(ctx, { vmId, limit: 50 });
      taken.push(performance.now() - began);
    }
    return median(taken);
  };
  const measured = await alternate(
    rounds,
    () => measure(many),
    () => measure(few),
  );
  return figureOf(
    {
      what: `First page of a VM with ${manyPast} past executions, p50`,
      unit: 'ms',
      against: `with ${fewPast}`,
      target: { kind: 'at most', value: 1.5, of: 'ratio' },
    },
    measured,
  );
}

/** Gives the n-th VM this many past executions. Returns the id of the VM. */
async function givenPast(client: pg.Pool, n: number, count: number): Promise<string> {
  const { rows } = await client.query<{ vm_id: string }>('select vm_id from agents where instance_id = $1', [
    instanceOf(n),
  ]);
  const vmId = rows[0]?.vm_id;
  if (vmId === undefined) throw new Error(`no VM ${n}`);
  await client.query('delete from executions where vm_id = $1', [vmId]);
  await client.query(
    `insert into executions (vm_id, id, plan_id, stamp, turn, state, name, version, plan_sha256, channel, queued_at,
       queued_by, valid_until, timeout_seconds, concluded_at, error_code)
     select $1, p.id, p.id, n, n, 'succeeded', 'Bench', '', $2, 'https', now(), 'bench', now(), 3600, now(), 0
       from generate_series(1, $3::int) n, lateral (select gen_random_uuid() as id, n as of_n) p`,
    [vmId, planSha256, count],
  );
  return vmId;
}

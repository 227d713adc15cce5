import type pg from 'pg';
import type { Gateway } from '../deployment/deployment.ts';
import type { Agents } from '../load/agents.ts';
import { Connection, type HttpReply } from '../load/connection.ts';
import { alternate, type Bench, type Figure, figureOf } from '../sections/section.ts';
import { prepareTwoStatements } from '../yardsticks/two-statements.ts';
import { planSha256 } from './bench-plan.ts';

const connections = 64;

/** Measures executions with four calls each, all committed: next, two progress reports, and the result. */
export async function cycles({ deployment, agents, rounds, seconds }: Bench): Promise<Figure> {
  const client = deployment.services.db.$client;
  const [gateway] = deployment.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  const yardstick = await prepareTwoStatements(deployment.databaseUrl, agents.count);
  await queueForAll(client);
  // The first run is a warm-up: the processes compile their code, and PostgreSQL plans the statements.
  await cyclesPerSecond(gateway, agents, seconds);
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
      what: `Execution fetched and completed, four committed calls, ${connections} connections`,
      unit: '/s',
      against: `${yardstick.by}, two statements, c16`,
      target: { kind: 'at least', value: 0.35, of: 'ratio' },
    },
    measured,
  );
}

/** Ends the executions of earlier rounds, and queues a new execution for each VM. */
export async function queueForAll(client: pg.Pool): Promise<void> {
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

/** Returns the result that an agent sends for the execution with this id. */
export const resultOf = (id: string): string =>
  JSON.stringify({
    ...{ FormatVersion: '2.0.0', ID: '6f1c2b7a9d3e4f50a1b2c3d4e5f60718', SourceID: id, Action: 'Execute:Result' },
    ...{ ErrorCode: 0, Body: null, Time: '2026-11-22T09:15:04.120Z' },
  });

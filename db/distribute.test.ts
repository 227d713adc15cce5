import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { queueExecution } from '#server/domain/executions/index.ts';
import { requestArchive } from '#server/domain/logs/index.ts';
import { givenAgent, givenProbe, openAgentDoor } from '#server/testing/agent-door.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair, proofOf } from '#server/testing/key-pair.ts';
import { localTables, type Reach, reachOf, readDistribution, schemaFaults } from './testing/citus-rules.ts';

const script = readFileSync(join(import.meta.dirname, 'distribute.sql'), 'utf8');
const distribution = readDistribution(script);

/** Tables that are not distributed, because heartbeats do not write them. */
const local = [
  ...['accounts', 'api_tokens', 'auth_challenges', 'installation', 'invitations', 'passkeys', 'recovery_codes'],
  ...['sessions', 'sign_in_rules', 'totp_factors', 'users', 'verifications'],
  ...['audit_anchors', 'audit_chain', 'audit_entries', 'changes', 'conductor_state', 'message_cursors'],
  ...['execution_rules', 'fabric_state', 'runbooks', 'runbook_versions', 'version_counts'],
  ...[
    'rollout_rules',
    'rollout_strategies',
    'attention_marks',
    'fleet_counts',
    'fleet_count_deltas',
    'fleet_count_checks',
  ],
];

/** Known statements that do not run on a single shard, each with the reason. docs/scale.md has the same list. */
const known: readonly { statement: RegExp; reach: Reach; why: string }[] = [
  {
    statement: /credential_hash = any\(\$1/,
    reach: 'all shards',
    why: 'Asked only for credentials that the process does not hold, many at once; by agent and then by VM it would ask fewer.',
  },
  {
    statement: /published_at >= \$1/,
    reach: 'all shards',
    why: 'Asked by each process every few seconds, by an index.',
  },
  {
    statement:
      /from "(output_pieces|log_archives|execution_files)" (inner join "executions" on .* )?where \(?\S+\."sha256" in/,
    reach: 'all shards',
    why: 'Before bytes are deleted: whether another VM has the same. By an index, when an output is put together or goes.',
  },
  {
    statement: /^\s*with seen as materialized/,
    reach: 'refused',
    why: 'Sightings of many VMs in one statement: to be sent by shard.',
  },
  {
    statement: /^\s*with report as materialized/,
    reach: 'refused',
    why: 'Reports of many VMs in one statement: to be gathered by shard, or taken in one by one, which is there already.',
  },
  {
    statement: /^\s*with given as materialized/,
    reach: 'refused',
    why: 'Executions of many VMs in one statement: to be gathered by shard, or written one by one.',
  },
  {
    statement: /^\s*select e\."vm_id".* from unnest\(\$1::uuid\[\]\) as v/s,
    reach: 'all shards',
    why: 'The next executions of many VMs in one statement: to be asked for one by one.',
  },
];

let ctx: Context;
let admin: Context;

beforeAll(async () => {
  ctx = await testContext({ role: 'operator', services: await testServices({ config: { vmRate: 0 } }) });
  admin = await testContext({ role: 'admin', services: ctx });
  await givenVersion(ctx.db);
});

test('every table is distributed, replicated or local', async () => {
  const hint = 'a new table goes into db/distribute.sql, or into this test’s list of those that stay';
  expect(await localTables(ctx.db.$client, distribution), hint).toEqual(local.toSorted());
});

test('the distributed schema breaks no rule', async () => {
  const { rows } = await ctx.db.$client.query(`select 1 from pg_available_extensions where name = 'citus'`);
  if (rows.length === 0)
    process.stderr.write('There is no Citus here: its rules are checked, the script is not run.\n');
  const changes = [...script.matchAll(/^(?:alter table|drop index|create unique index) .*;$/gm)].map(
    ([change]) => change,
  );
  expect(changes).toHaveLength(3);
  for (const change of changes) await ctx.db.$client.query(change);
  expect(await schemaFaults(ctx.db.$client, distribution)).toEqual([]);
});

test('the check detects a violation', async () => {
  const spread = new Map([...distribution.distributed, ['agents', 'vm_id'], ['audit_entries', 'vm_id']]);
  const faults = await schemaFaults(ctx.db.$client, { reference: new Set(['resources']), distributed: spread });
  expect(faults).toContain('agents_credential is unique without vm_id');
  expect(faults).toContain('agents points to vms, which stays on the coordinator');
});

test.each<[Reach, string]>([
  ['coordinator', 'select from sessions where id = $1'],
  ['one shard', 'select etag from goal_state_heads where vm_id = $1'],
  ['one shard', 'update "extensions" set x = 1 where ("extensions"."vm_id" = $1 and name = $2)'],
  ['one shard', 'insert into "goal_states" ("vm_id", "etag") values ($1, $2)'],
  ['one shard', 'select from extensions e join extension_latest l using (vm_id) where e.vm_id = $1'],
  ['its rows', 'insert into health_checks (vm_id, due_at) select k, now() from unnest($1::uuid[]) k'],
  ['all shards', 'select from extensions e join extension_latest l on l.name = e.name where e.vm_id = $1'],
  ['all shards', 'select from report_history where id > $1 order by id'],
  ['refused', 'select from health_checks where due_at < $1 for update skip locked'],
  ['refused', 'with b as (select 1), c as (update agent_presence p set x = 1 from b where p.vm_id = b.vm_id) select 1'],
])('%s: %s', (reach, statement) => {
  expect(reachOf(statement, distribution)).toBe(reach);
});

test("an agent's calls run on a single shard, except for known statements", async () => {
  const statements = await statementsOf(async () => {
    const door = await openAgentDoor(ctx);
    const [pair, next] = [newKeyPair(), newKeyPair()];
    const agent = await givenAgent(ctx, door, 'spread', pair);
    const { vmId } = agent;
    await givenProbe(ctx, vmId);
    const etag = (await agent.call('/goal-state')).headers.get('etag') ?? '';
    expect((await agent.call('/goal-state', { headers: { 'if-none-match': etag } })).status).toBe(304);
    const entry = { extension: 'probe', readSecondsAgo: 0, ageSeconds: 1 };
    const heartbeats = [{ ...entry, file: [{ version: 1.0, heartbeat: { status: 'ready' } }] }];
    const status = { name: 's', status: 'success', message: { id: 'm' } };
    const statuses = [
      { ...entry, sequenceNumber: 1, file: [{ version: 1, timestampUTC: '2026-01-01T00:00:00Z', status }] },
    ];
    for (const body of [{ heartbeats }, { heartbeats, statuses }]) {
      const answer = await agent.call('/reports', { method: 'POST', body: JSON.stringify(body) });
      expect(answer.status).toBe(204);
    }
    const output = '/logs/probe?command=enable&attempt=1&sequence=1';
    for (const range of ['0-3/*', '4-7/8']) {
      const sent = { method: 'POST', body: 'four', headers: { 'content-range': `bytes ${range}` } };
      expect((await agent.call(output, sent)).status).toBe(204);
    }
    const { id } = await requestArchive(ctx, { vmId, handler: 'Acme.Lab.Probe' });
    expect((await agent.call('/log-requests')).status).toBe(200);
    const archive = { method: 'PUT', body: 'an archive', headers: { 'content-type': 'application/gzip' } };
    expect((await agent.call(`/log-requests/${id}/archive`, archive)).status).toBe(204);
    const plan = { FormatVersion: '2.0.0', Body: 'return 1', Scripts: {} };
    const { execution } = await queueExecution({ ...admin, now: new Date() }, { vmId, plan });
    expect((await agent.call('/executions/next')).status).toBe(200);
    const progress = { method: 'PUT', body: JSON.stringify({ run: 1, state: 'running', sentMsAgo: 0 }) };
    expect((await agent.call(`/executions/${execution.id}/progress`, progress)).status).toBe(204);
    const renewal = JSON.stringify({ certificate: next.certificate, proof: proofOf(pair, next) });
    expect((await agent.call('/certificate', { method: 'PUT', body: renewal })).status).toBe(200);
    // Closing the agent API writes its pending data.
    await door.close();
  });
  const others = [...new Set(statements)]
    .map((statement) => ({ statement, reach: reachOf(statement, distribution) }))
    .filter(({ reach }) => reach === 'all shards' || reach === 'refused')
    .filter(({ statement, reach }) => !known.some((one) => one.reach === reach && one.statement.test(statement)));
  expect(others).toEqual([]);
  expect(statements.filter((statement) => reachOf(statement, distribution) === 'one shard').length).toBeGreaterThan(5);
});

/** Returns the statements that were sent while `work` was running. */
async function statementsOf(work: () => Promise<void>): Promise<string[]> {
  const statements: string[] = [];
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [config] = args as [string | { text?: string } | undefined];
    statements.push((typeof config === 'string' ? config : config?.text) ?? '');
    return Reflect.apply(query, this, args);
  } as typeof query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query;
  }
  return statements;
}

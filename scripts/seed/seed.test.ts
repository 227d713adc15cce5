import { sql } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { extensionHealth, vmHealth } from '#db/schema/index.ts';
import { goalState } from '#protocol/goal-state.ts';
import { documentLimits } from '#protocol/limits.ts';
import type { Services } from '#server/domain/context.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { readReport } from '#server/domain/reports/read-report.ts';
import { getInstanceView } from '#server/domain/views/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { SeedError, seed } from './seed.ts';

let services: Services;
const output: string[] = [];
const options = { vms: 1_500, extensions: 3, more: false, say: (line: string) => output.push(line) };

beforeAll(async () => {
  services = await testServices();
  await seed(services, options);
}, 60_000);

test('the seeded health is what the VMs’ pages derive', async () => {
  const viewer = await testContext({ services, role: 'viewer' });
  const rows = await services.db.execute<{ vm_id: string; health: string; kinds: number }>(sql`
    select distinct on (health, agent, deadline_at is null) vm_id, health from vm_health
     order by health, agent, deadline_at is null, vm_id`);
  expect(new Set(rows.rows.map(({ health }) => health)).size).toBe(6);
  for (const { vm_id: vmId, health } of rows.rows) {
    const view = await getInstanceView(viewer, { vmId, acceptLanguage: 'de' });
    expect(view.health, vmId).toBe(health);
    expect(view.extensions).toHaveLength(3);
  }
  // Most VMs get a copy of a similar VM's health. Deriving it for each VM must give the same result.
  const read = async () => [
    await services.db.select().from(vmHealth).orderBy(vmHealth.vmId),
    await services.db.select().from(extensionHealth).orderBy(extensionHealth.vmId, extensionHealth.name),
  ];
  const before = await read();
  await services.db.execute(sql`update health_checks set due_at = 'epoch'`);
  expect(await foldHealth(services, new Date())).toBe(options.vms);
  expect(await read()).toEqual(before);
});

test('seeded reports and goals are valid by the protocol', async () => {
  const { rows } = await services.db.execute<{ kind: string; document: unknown }>(
    sql`select distinct kind, document::jsonb as document from report_history`,
  );
  const of = (kind: string) => rows.filter((row) => row.kind === kind).map(({ document }) => document);
  const report = { handlers: of('handler'), heartbeats: of('heartbeat'), statuses: of('status') };
  const { entries, faults } = readReport(report, { ...documentLimits, entries: 10_000 });
  expect(faults).toEqual([]);
  expect(entries).toHaveLength(rows.length);
  const heads = await services.db.execute<{ text: string }>(sql`select text from goal_state_heads`);
  for (const { text } of heads.rows) expect(goalState.parse(JSON.parse(text)).extensions).toHaveLength(3);
});

test('some VMs fail for the same cause and have a past, and versions have spread', async () => {
  const together = await services.db.execute<{ cause: string; vms: number }>(sql`
    select cause, count(*)::int as vms from extension_health
     where cause in ('exit', 'silent', 'status', 'waiting', 'deadline', 'timeout') group by cause order by cause`);
  expect(together.rows.map(({ cause }) => cause)).toEqual([
    'deadline',
    'exit',
    'silent',
    'status',
    'timeout',
    'waiting',
  ]);
  const recent = await services.db.execute<{ count: number }>(sql`
    select count(*)::int as count from health_transitions where extension is null and at > now() - interval '1 hour'`);
  expect(recent.rows[0]?.count).toBeGreaterThan(20);
  const counted = await services.db.execute<{ days: number; versions: number }>(sql`
    select count(distinct date_trunc('day', hour))::int as days, count(distinct (handler, version))::int as versions
      from version_counts`);
  expect(counted.rows[0]?.days).toBeGreaterThan(55);
  expect(counted.rows[0]?.versions).toBe(7);
});

test('a second seed is rejected, or adds to the first', async () => {
  await expect(seed(services, options)).rejects.toBeInstanceOf(SeedError);
  await seed(services, { ...options, vms: 100, more: true });
  expect((await services.db.select().from(vmHealth)).length).toBe(1_600);
});

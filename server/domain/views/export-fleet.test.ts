import { eq, sql } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { agentPresence, auditEntries, extensionHealth, vmHealth, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { idOf, insertFleet } from '#server/domain/fleet/testing/insert-fleet.ts';
import { readActs } from '#server/testing/acts.ts';
import { testActor, testContext } from '#server/testing/context.ts';
import { type ExportedVm, exportFleet } from './export-fleet.ts';

const now = new Date('2026-03-01T12:00:00Z');
let ctx: Context;

beforeAll(async () => {
  ctx = await testContext({ role: 'viewer', now });
  await insertFleet(ctx.db, now, [
    { name: 'db-1', tags: { env: 'prod' }, lastSeenAt: now, extensions: [{ name: 'b' }, { name: 'a' }] },
    { name: 'new', health: null },
    { name: 'gone', health: null, isDeleted: true },
    { name: 'Web', health: 'failed' },
  ]);
});

async function exported(input: Parameters<typeof exportFleet>[1], of = ctx): Promise<ExportedVm[][]> {
  const pages: ExportedVm[][] = [];
  for await (const page of await exportFleet(of, input)) pages.push(page);
  return pages;
}
const acts = () => readActs(ctx.db, eq(auditEntries.action, 'fleet.export'));

test('contains every VM, sorted by name, with its data from lists', async () => {
  const [page = []] = await exported({});
  expect(page.map(({ name, health }) => [name, health])).toEqual([
    ['Web', 'failed'],
    ['db-1', 'healthy'],
    ['new', null],
  ]);
  expect(page[1]).toMatchObject({
    ...{ id: idOf(0), tags: { env: 'prod' }, createdAt: now, since: now, agent: 'ready', lastSeenAt: now },
    ...{ agentVersion: null, os: null, clockSkewSeconds: null, goalState: null },
  });
  expect(page[1]?.extensions.map(({ name }) => name)).toEqual(['a', 'b']);
  expect(page[2]).toMatchObject({ since: null, agent: null, lastSeenAt: null, extensions: [] });
});

test('is recorded with its filter, the number of VMs, and the person, before the first page is read', async () => {
  const before = await acts();
  const filter = { health: ['failed' as const], q: 'web' };
  const pages = await exportFleet(ctx, filter);
  const recorded = (await acts()).slice(before.length);
  expect(recorded).toMatchObject([
    {
      ...{ actorId: 'test-viewer', targetKind: 'fleet', targetId: 'vms', vmId: null },
      details: { count: 1, filter },
    },
  ]);
  expect((await pages.next()).value).toHaveLength(1);
  expect(await pages.next()).toEqual({ done: true, value: undefined });
});

test('of nothing is recorded too, and has no page', async () => {
  const before = await acts();
  expect(await exported({ q: 'nowhere' })).toEqual([]);
  expect((await acts()).at(before.length)?.details).toEqual({ count: 0, filter: { q: 'nowhere' } });
});

test.each([
  ['without a session', () => ({ ...ctx, actor: testActor(null) }), {}, 'unauthenticated'],
  ['without a second factor', () => ({ ...ctx, actor: { ...testActor('admin'), role: null } }), {}, 'factor_required'],
  ['of a health that does not exist', () => ctx, { health: ['ill'] }, 'invalid'],
  ['of a version that is none', () => ctx, { version: 'x' }, 'invalid'],
])('%s nothing is exported or recorded', async (_, of, input, code) => {
  const before = await acts();
  await expect(exportFleet(of(), input as object)).rejects.toMatchObject({ code });
  expect(await acts()).toHaveLength(before.length);
});

test('has pages of 1,000, each VM once, and omits a VM that is deleted in the meantime', async () => {
  const many = await testContext({ role: 'viewer', now });
  await many.db.execute(sql`
    with made as (
      insert into ${vms} (id, name, tags, created_at, created_by)
      select gen_random_uuid(), 'vm-' || lpad(n::text, 4, '0'), '{}', now(), 'test' from generate_series(1, 2000) n
      returning *
    )
    insert into ${vmHealth} (vm_id, name, tags, health, rank, agent, since)
    select id, name, tags, 'healthy', 5, 'ready', now() from made`);
  const pages = await exportFleet(many, {});
  const first: ExportedVm[] = (await pages.next()).value ?? [];
  const [victim] = await many.db.select().from(vms).where(eq(vms.name, 'vm-1500'));
  await many.db.delete(vmHealth).where(eq(vmHealth.vmId, victim?.id ?? ''));
  await many.db.update(vms).set({ deletedAt: now }).where(eq(vms.name, 'vm-1500'));
  const rest: ExportedVm[][] = [];
  for await (const page of pages) rest.push(page);
  expect([first.length, ...rest.map(({ length }) => length)]).toEqual([1_000, 999]);
  const names = [first, ...rest].flat().map(({ name }) => name);
  expect(new Set(names).size).toBe(1_999);
  expect(names).toEqual(names.toSorted());
  expect(names).not.toContain('vm-1500');
});

test('a filter on extensions and a filter on names find the same VMs as the list', async () => {
  const names = async (input: Parameters<typeof exportFleet>[1]) =>
    (await exported(input)).flat().map(({ name }) => name);
  expect(await names({ handler: 'Acme.Lab.Probe' })).toEqual(['db-1']);
  expect(await names({ q: 'W' })).toEqual(['Web', 'new']);
  expect(await names({ tags: [{ name: 'env' }] })).toEqual(['db-1']);
  await ctx.db.delete(extensionHealth);
  await ctx.db.delete(agentPresence);
  expect(await names({ handler: 'Acme.Lab.Probe' })).toEqual([]);
});

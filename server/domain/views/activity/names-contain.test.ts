import { sql } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { auditEntries, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { countNewerActs, listActivity } from './index.ts';

const tokenId = '00000000-0000-4000-8000-00000000000a';
const now = new Date('2026-03-01T12:00:00Z');
const ids = { db: '00000000-0000-4000-8000-000000000001', gone: '00000000-0000-4000-8000-000000000002' };

let ctx: Context;
let minute = 0;

/** Writes an entry. Its label, stored as the request id, identifies it in the tests. */
async function act(label: string, more: Partial<typeof auditEntries.$inferInsert>): Promise<void> {
  minute += 1;
  await ctx.db.insert(auditEntries).values({
    ...{ at: new Date(now.getTime() + minute * 60_000), actorKind: 'user', actorId: 'u', actorName: 'Nobody' },
    ...{ action: 'vm.update', targetKind: 'vm', targetId: 'x', requestId: label, details: {} },
    ...more,
  });
}

async function found(q: string): Promise<string[]> {
  const { items } = await listActivity(ctx, { q, limit: 1_000 });
  const rows = await ctx.db.select({ id: auditEntries.id, label: auditEntries.requestId }).from(auditEntries);
  const labels = new Map(rows.map(({ id, label }) => [id, label]));
  return items.map(({ id }) => labels.get(id) ?? '').toSorted();
}

beforeAll(async () => {
  ctx = await testContext({ now });
  const made = { tags: {}, createdAt: now, createdBy: 'test' };
  await ctx.db.insert(vms).values([
    { ...made, id: ids.db, name: 'db_eu-1' },
    { ...made, id: ids.gone, name: 'old-eu', deletedAt: now },
  ]);
  await act('on the VM', { vmId: ids.db, targetId: ids.db });
  await act('on its extension', { vmId: ids.db, targetKind: 'extension', targetId: 'probe' });
  await act('on a deleted VM', { vmId: ids.gone, targetId: ids.gone });
  await act('by Ada', { actorId: 'a', actorName: 'Ada Lovelace' });
  await act('by Ada under an earlier name', { actorId: 'g', actorName: 'Ada' });
  await act('by Grace under her name', { actorId: 'g', actorName: 'Grace' });
  await act('by the token', { actorKind: 'token', actorId: tokenId, actorName: 'Deploy 100%' });
  await act('on the token', { targetKind: 'token', targetId: tokenId, details: { name: 'Deploy 100%' } });
  await act('on the member', { targetKind: 'member', targetId: 'm', details: { name: 'Eve' } });
  await act('on the version', { targetKind: 'version', targetId: 'Acme.Lab.Probe-1.0.0.0' });
  await act('on the publisher', { targetKind: 'publisher', targetId: 'Acme.Lab' });
  await act('by the system', { actorKind: 'system', actorId: 'system', actorName: 'Annex' });
});

const cases: [string, string[]][] = [
  ['db', ['on its extension', 'on the VM']],
  ['EU', ['on a deleted VM', 'on its extension', 'on the VM']],
  ['db_eu', ['on its extension', 'on the VM']],
  ['b-eu', []],
  ['probe', ['on its extension', 'on the version']],
  ['lovelace', ['by Ada']],
  ['acme.lab', ['on the publisher', 'on the version']],
  ['100%', ['by the token', 'on the token']],
  ['eve', ['on the member']],
  ['annex', ['by the system']],
  ['\\', []],
  ["' or true --", []],
];

test.each(cases)('entries with %j in a name', async (q, expected) => {
  expect(await found(q)).toEqual(expected);
});

test('a person is found by the newest name, with all entries', async () => {
  expect(await found('grace')).toEqual(['by Ada under an earlier name', 'by Grace under her name']);
  expect(await found('ada')).toEqual(['by Ada']);
});

test('spaces around the text do not count, and blank text finds everything', async () => {
  expect(await found('  lovelace ')).toEqual(['by Ada']);
  expect(await found('   ')).toHaveLength(12);
});

test('a name and another condition must both hold', async () => {
  const { items } = await listActivity(ctx, { q: 'probe', target: 'version' });
  expect(items).toHaveLength(1);
  expect(await countNewerActs(ctx, { q: 'probe', target: 'version', after: 0 })).toMatchObject({ count: 1 });
});

test('if over 500 VMs have the text in their names, entries on all of them are found', async () => {
  await ctx.db.execute(sql`insert into vms (id, name, tags, created_at, created_by)
    select gen_random_uuid(), 'web-' || n, '{}', now(), 'test' from generate_series(1, 501) n`);
  await ctx.db.execute(sql`
    insert into audit_entries (at, actor_kind, actor_id, actor_name, action, target_kind, target_id, vm_id, request_id, details)
    select now(), 'user', 'u', 'Nobody', 'vm.create', 'vm', id::text, id, 'web', '{}' from vms where name like 'web-%'`);
  await act('on the member web', { targetKind: 'member', targetId: 'w', details: { name: 'Webb' } });
  await act('by Webb', { actorId: 'w', actorName: 'Webb' });
  expect(await countNewerActs(ctx, { q: 'WEB', after: 0 })).toMatchObject({ count: 503, atLeast: false });
  expect(await countNewerActs(ctx, { q: 'web-50', after: 0 })).toMatchObject({ count: 3 });
  expect(await found('webb')).toEqual(['by Webb', 'on the member web']);
});

test('newer entries are counted up to 1,000', async () => {
  await ctx.db.execute(sql`
    insert into audit_entries (at, actor_kind, actor_id, actor_name, action, target_kind, target_id, request_id, details)
    select now(), 'user', 'many', 'Many', 'vm.update', 'vm', 'y', 'r', '{}' from generate_series(1, 1001)`);
  const { count, atLeast } = await countNewerActs(ctx, { actor: 'user:many', after: 0 });
  expect([count, atLeast]).toEqual([1_000, true]);
  const { newest } = await listActivity(ctx, { limit: 1 });
  expect(await countNewerActs(ctx, { after: newest - 999 })).toMatchObject({ count: 999, atLeast: false, newest });
  expect(await countNewerActs(ctx, { after: newest })).toMatchObject({ count: 0, atLeast: false, newest });
});

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import de from '#locales/de/activity.json' with { type: 'json' };
import en from '#locales/en/activity.json' with { type: 'json' };
import { createInvitation } from '#server/auth/invitations/index.ts';
import { createToken, revokeToken } from '#server/auth/tokens/index.ts';
import { ActivityWatch } from '#server/domain/audit/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { updateVm } from '#server/domain/vms/index.ts';
import { testBootstrap, testContext, testServices } from '#server/testing/context.ts';
import { differencesOf } from './diff.ts';
import { countNewerActs, getAct, getActivityChain, getActivityFacets, listActivity, readActivity } from './index.ts';

let services: Services;
let admin: Context;
let vmId: string;

const as = (role: 'viewer' | 'operator' | 'publisher') => testContext({ services, role });

beforeAll(async () => {
  services = await testServices();
  admin = await testContext({ services, now: new Date(Date.now() + 60_000) });
  const operator = await as('operator');
  ({ id: vmId } = await registerVm(operator, { name: 'db-eu1-003', tags: { env: 'prod' } }));
  await updateVm(operator, { vmId, tags: { env: 'test', owner: 'ada' } });
  const gone = await registerVm(operator, { name: 'gone' });
  await removeVm(operator, { vmId: gone.id });
  const script = { ...admin, actor: testBootstrap };
  const { id } = await createToken(script, { name: 'CI', role: 'viewer' });
  await revokeToken(admin, { id });
  await createInvitation(script, { role: 'viewer' });
});

describe('the activity log', () => {
  test('lists the newest first, with names, existing targets and the values of each sentence', async () => {
    const { items, newest } = await listActivity(admin, {});
    expect(items.map(({ action }) => action)).toEqual([
      'invitation.create',
      'token.revoke',
      'token.create',
      'vm.delete',
      'vm.create',
      'vm.update',
      'vm.create',
    ]);
    expect(newest).toBe(items[0]?.id);
    expect(items[3]).toMatchObject({ vm: { name: 'gone', isThere: false }, door: 'page', address: '192.0.2.1' });
    expect(items[5]).toMatchObject({ vm: { id: vmId, name: 'db-eu1-003', isThere: true }, hasContents: true });
    expect(items[2]).toMatchObject({ facts: { name: 'CI', role: 'viewer' }, target: { name: 'CI', isThere: true } });
  });

  test("shows people only to admins, declarations to operators, and other actors' addresses to admins", async () => {
    for (const role of ['viewer', 'publisher', 'operator'] as const) {
      const ctx = await as(role);
      const { items } = await listActivity(ctx, {});
      expect(items.map(({ target }) => target.kind)).toEqual(['vm', 'vm', 'vm', 'vm']);
      expect(items.every(({ address }) => (address === null) === (role !== 'operator'))).toBe(true);
      expect(items.some(({ hasContents }) => hasContents)).toBe(role === 'operator');
      const update = items[2]?.id ?? 0;
      expect((await getAct(ctx, { id: update })).differences.length > 0).toBe(role === 'operator');
      const [about] = (await listActivity(admin, { action: 'token' })).items;
      await expect(getAct(ctx, { id: about?.id ?? 0 })).rejects.toMatchObject({ code: 'act_unknown' });
    }
    const signedOut = await testContext({ services, role: null });
    await expect(listActivity(signedOut, {})).rejects.toMatchObject({ kind: 'unauthenticated' });
  });

  test.each([
    [{ action: 'vm' }, 4],
    [{ action: 'vm.create' }, 2],
    [{ actor: 'user:test-operator' }, 4],
    [{ actor: 'user' }, 5],
    [{ actor: 'bootstrap' }, 2],
    [{ target: 'token' }, 2],
    [{ q: 'EU1' }, 2],
    [{ q: '%' }, 0],
    [{ q: 'ci' }, 2],
    [{ from: '2999-01-01T00:00:00Z' }, 0],
    [{ to: '2999-01-01T00:00:00Z' }, 7],
    [{ upTo: 3 }, 3],
  ])('filtered by %j', async (filter, count) => {
    expect((await listActivity(admin, filter)).items).toHaveLength(count);
  });

  test('lists each entry once, page by page', async () => {
    const seen: number[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await listActivity(admin, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.items.map(({ id }) => id));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1]);
    for (const keys of [
      ['x', '1'],
      ['2026-01-01', "1'"],
      ['0000-01-01T00:00:00.000Z', '1'],
      ['+012026-01-01T00:00:00.000Z', '1'],
    ]) {
      const cursor = Buffer.from(JSON.stringify(keys)).toString('base64url');
      await expect(listActivity(admin, { cursor })).rejects.toMatchObject({ code: 'cursor_invalid' });
    }
  });

  test('a time outside the database’s calendar is rejected', async () => {
    for (const moment of ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-12:00']) {
      for (const filter of [{ from: moment }, { to: moment }]) {
        await expect(listActivity(admin, filter)).rejects.toMatchObject({ code: 'invalid' });
      }
    }
  });

  test('counts newer entries that match', async () => {
    expect(await countNewerActs(admin, { after: 2 })).toMatchObject({ count: 5, atLeast: false, newest: 7 });
    expect(await countNewerActs(admin, { after: 2, vmId })).toMatchObject({ count: 0, atLeast: false, newest: 2 });
    expect(await countNewerActs(await as('viewer'), { after: 4 })).toMatchObject({ count: 0 });
  });

  test('lists the values to filter by, and the state of the chain', async () => {
    expect(await getActivityFacets(admin, {})).toMatchObject({
      actors: [
        { id: 'test-operator', count: 4 },
        { id: 'bootstrap', count: 2 },
        { id: 'test-admin', count: 1 },
      ],
      actions: expect.arrayContaining([{ action: 'vm.create', count: 2 }]),
    });
    expect(await getActivityChain(admin)).toMatchObject({ position: 7, checkedAt: null, isStale: false });
    const watch = new ActivityWatch(() => {});
    await watch.checkNewest(services, admin.now);
    expect(await getActivityChain(admin)).toMatchObject({ position: 8, checkedAt: admin.now, fault: null });
    expect(await getActivityChain({ ...admin, now: new Date(admin.now.getTime() + 180_000) })).toMatchObject({
      isStale: true,
    });
  });

  test('compares before and after by location', async () => {
    const [update] = (await listActivity(admin, { action: 'vm.update' })).items;
    expect(await getAct(admin, { id: update?.id ?? 0 })).toMatchObject({
      differences: [
        { path: ['tags', 'env'], before: 'prod', after: 'test' },
        { path: ['tags', 'owner'], after: 'ada' },
      ],
    });
  });

  test('a file contains the same as the list, in chunks', async () => {
    await services.db.execute(sql`insert into audit_entries (at, actor_kind, actor_id, actor_name, action, target_kind,
      target_id, request_id, details) select '2020-01-01'::timestamptz + n * interval '1 ms', 'user', 'x', 'Ada',
      'vm.delete', 'vm', 'y', 'r', '{}' from generate_series(1, 1200) n`);
    const pieces: number[] = [];
    const ids = new Set<number>();
    for await (const acts of readActivity(await as('viewer'), {})) {
      pieces.push(acts.length);
      for (const act of acts) ids.add(act.id);
      expect(acts.every(({ before, after, address }) => before === null && after === null && address === null)).toBe(
        true,
      );
    }
    expect([pieces, ids.size]).toEqual([[500, 500, 204], 1_204]);
  });
});

test.each([
  ['nothing', { a: 1 }, { a: 1 }, []],
  ['what came', null, { a: 1 }, [{ path: ['a'], after: 1 }]],
  ['what went', { a: { b: 1 } }, null, [{ path: ['a', 'b'], before: 1 }]],
  ['lists as one', { a: [1, 2] }, { a: [2] }, [{ path: ['a'], before: [1, 2], after: [2] }]],
  ['kinds that change', { a: { b: 1 } }, { a: 'x' }, [{ path: ['a'], before: { b: 1 }, after: 'x' }]],
  ['null as a value', { a: null }, {}, [{ path: ['a'], before: null }]],
  [
    'secrets as changed',
    { s: { $sealed: '1' } },
    { s: { $sealed: '2' } },
    [{ path: ['s'], before: { $sealed: '1' }, after: { $sealed: '2' } }],
  ],
])('differences: %s', (_what, before, after, items) => {
  expect(differencesOf(before, after)).toEqual({ items, more: 0 });
});

test('the number of differences is limited', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`n${n}`, n]));
  expect(differencesOf(null, many)).toMatchObject({ more: 300 });
});

test('every action in the code has a sentence and a short name, and no sentence is unused', () => {
  const root = path.resolve(import.meta.dirname, '../../../..');
  const files = readdirSync(path.join(root, 'server'), { recursive: true, encoding: 'utf8' });
  const used = new Set<string>();
  for (const file of files) {
    if (!file.endsWith('.ts') || file.includes('.test.')) continue;
    const text = readFileSync(path.join(root, 'server', file), 'utf8');
    if (!/recordAudit|recordAct\(/.test(text)) continue;
    for (const [call] of text.matchAll(/recordAct\([^;]*;/g)) {
      for (const [, code = ''] of call.matchAll(/'(rollout\.[a-z-]+)'/g)) used.add(code);
    }
    for (const [, line = ''] of text.matchAll(/\baction:([^\n]*)/g)) {
      for (const [, code = ''] of line.matchAll(/'([a-z-]+\.[a-z-]+)'/g)) used.add(code);
    }
  }
  const detailsOf = (words: object) =>
    [
      ...new Set(Object.keys(words).flatMap((key) => /^act\.(.*?)(?:_(?:zero|one|other))?$/.exec(key)?.[1] ?? [])),
    ].sort();
  // These actions exist only in entries of earlier releases, which remain readable.
  const earlier = ['wire-access.hold', 'wire-access.release'];
  expect(detailsOf(en)).toEqual([...used, ...earlier].sort());
  expect(detailsOf(de)).toEqual(detailsOf(en));
  for (const code of used) {
    const [noun = '', verb = ''] = code.split('.');
    expect([`noun.${noun}` in en, `do.${code}` in en || `do.${verb}` in en], code).toEqual([true, true]);
  }
});

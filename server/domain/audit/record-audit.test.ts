import { asc, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditEntries } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, systemOrigin } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { longTest } from '#server/testing/long.ts';
import type { Act } from './act.ts';
import { readHead } from './chain.ts';
import { recordAudit, verifyActivity } from './index.ts';

let ctx: Context;
beforeEach(async () => {
  ctx = await testContext({ now: new Date('2030-01-01T10:00:00.123Z') });
});

const vmId = '0197a3f0-0000-7000-8000-000000000000';
const act: Act = { action: 'vm.update', target: { kind: 'vm', id: vmId } };
const record = (...acts: Act[]) => recordAs(ctx, ...acts);
const recordAs = (as: Context, ...acts: Act[]) =>
  ctx.db.transaction(async (tx) => {
    for (const each of acts) await recordAudit(tx, as, each);
  });
const rows = () => ctx.db.select().from(auditEntries).orderBy(asc(auditEntries.position));
const intact = async () => expect((await verifyActivity(ctx, null)).faults).toEqual([]);

describe('a recorded act', () => {
  test('has who, when, from where, what and the target before and after', async () => {
    await record({ ...act, vmId, before: { name: 'old' }, after: { name: 'new' }, details: { reason: 'tidy' } });
    expect(await rows()).toEqual([
      {
        ...{ id: 1, at: ctx.now, actorKind: 'user', actorId: 'test-admin', actorName: 'Test admin' },
        ...{ door: 'page', address: '192.0.2.1', client: null, requestId: ctx.requestId },
        ...{ action: 'vm.update', targetKind: 'vm', targetId: vmId, vmId },
        ...{ details: { reason: 'tidy' }, before: { name: 'old' }, after: { name: 'new' } },
        ...{ seal: expect.any(String), position: 1, hash: expect.any(String) },
      },
    ]);
    await intact();
  });

  test('needs no VM, no details and no before and after', async () => {
    await record({ action: 'publisher.create', target: { kind: 'publisher', id: 'Acme' }, before: null });
    expect(await rows()).toMatchObject([{ vmId: null, details: {}, before: null, after: null }]);
  });

  test('of the portal has no address', async () => {
    await recordAs({ ...ctx, actor: systemActor, origin: systemOrigin }, act);
    expect(await rows()).toMatchObject([{ actorKind: 'system', actorName: 'Annex', door: 'system', address: null }]);
  });

  test.each<[string, string | null, number | null]>([
    ['no program', null, null],
    ['a short name', 'curl/8', 6],
    ['exactly as many characters as are kept', 'x'.repeat(300), 300],
    ['a long name, which is cut', 'x'.repeat(5_000), 300],
  ])('from %s', async (_, client, length) => {
    await recordAs({ ...ctx, origin: { ...ctx.origin, client } }, act);
    expect((await rows())[0]?.client?.length ?? null).toBe(length);
    await intact();
  });

  test.each<[string, Record<string, unknown>]>([
    ['nested objects', { a: { b: { c: [1, { d: null }] } } }],
    ['numbers of every size', { n: [0, -0, 0.1, 1e21, 1e-7, 5e-324, Number.MAX_SAFE_INTEGER, -1.5e300] }],
    ['text of every script', { t: ['ä', 'a\u0308', '日本', '🙂', '\u200b', '\u0001', '\\u0000', '"', "'"] }],
    ['keys in another order than stored', { z: 1, a: 2, B: 3, ä: 4, '10': 5, '9': 6 }],
    ['absent values', { a: undefined, b: null }],
    ['a large part', { script: 'x'.repeat(50_000) }],
  ])('holds its seal after it was stored: %s', async (_, value) => {
    await record({ ...act, details: value, before: value, after: value });
    await intact();
  });
});

describe('the transaction of an act', () => {
  test('several acts get numbers in their order, after all other statements', async () => {
    await ctx.db.transaction(async (tx) => {
      await recordAudit(tx, ctx, { ...act, details: { n: 1 } });
      await recordAudit(tx, ctx, { ...act, details: { n: 2 } });
      const { rows: during } = await tx.execute(sql`select count(*)::int as n from audit_entries`);
      expect(during).toEqual([{ n: 0 }]);
    });
    expect((await rows()).map(({ position, details }) => [position, details.n])).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(await readHead(ctx.db)).toMatchObject({ position: 2, hash: (await rows())[1]?.hash, linkedAt: ctx.now });
  });

  test('that fails leaves neither act nor number', async () => {
    const failing = ctx.db.transaction(async (tx) => {
      await recordAudit(tx, ctx, act);
      throw new Error('the change was rejected');
    });
    await expect(failing).rejects.toThrow('the change was rejected');
    expect([await rows(), await readHead(ctx.db)]).toEqual([[], undefined]);
    await record(act);
    expect((await rows()).map(({ position }) => position)).toEqual([1]);
  });

  test('a change and its act are never stored without each other', async () => {
    await record(act);
    await ctx.db.execute(sql`alter table audit_entries add constraint none check (target_id <> 'refused')`);
    const both = ctx.db.transaction(async (tx) => {
      await tx.execute(sql`insert into changes (topic, key) values ('vm', 'together')`);
      await recordAudit(tx, ctx, { ...act, target: { kind: 'vm', id: 'refused' } });
    });
    await expect(both).rejects.toThrow();
    expect((await ctx.db.execute(sql`select 1 from changes where key = 'together'`)).rows).toEqual([]);
    await intact();
  });

  test('an act cannot be recorded in a savepoint', async () => {
    const nested = ctx.db.transaction((tx) => tx.transaction((inner) => recordAudit(inner, ctx, act)));
    await expect(nested).rejects.toThrow('needs a transaction of openDatabase');
    expect(await rows()).toEqual([]);
  });

  longTest('more acts than one statement can insert are all recorded', async () => {
    await record(...Array.from({ length: 3_500 }, (_, n) => ({ ...act, details: { n } })));
    expect(await verifyActivity(ctx, null)).toMatchObject({ numbered: 3_500, faults: [] });
  });

  test('the first acts of several concurrent writers begin a single chain', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, n) => record({ ...act, details: { n } })));
    expect((await rows()).map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    await intact();
  });
});

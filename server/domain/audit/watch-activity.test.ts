import { sql } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import type { ChainFault } from '#db/schema/index.ts';
import { testDatabase } from '#db/testing/database.ts';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { longTest } from '#server/testing/long.ts';
import { ActivityWatch, readHead, readKeptHead, readVerdict, recordAudit } from './index.ts';

const vmIds = ['0197a3f0-0000-7000-8000-000000000001', '0197a3f0-0000-7000-8000-000000000002'];

let db: Database;
let ctx: Context;
let heard: ChainFault[];
let watch: ActivityWatch;
beforeAll(async () => {
  db = await testDatabase();
});
beforeEach(async () => {
  // Emptying the log is faster than creating another database.
  await db.execute(sql.raw('truncate audit_entries, audit_chain restart identity cascade'));
  ctx = await testContext({ db, now: new Date('2030-01-01T10:00:00Z') });
  heard = [];
  watch = newWatch();
});

const newWatch = () => new ActivityWatch((fault) => heard.push(fault));
const later = (seconds: number) => new Date(ctx.now.getTime() + seconds * 1_000);
const record = (vmId?: string) =>
  ctx.db.transaction((tx) =>
    recordAudit(tx, ctx, { action: 'vm.update', target: { kind: 'vm', id: 'x' }, ...(vmId && { vmId }) }),
  );
const check = (seconds = 0, by = watch) => by.checkNewest(ctx, later(seconds));
const verdict = async () => readVerdict(ctx.keys, await readHead(ctx.db));
const run = (text: string) => ctx.db.execute(sql.raw(text));
const rename = (name: string) => run(`update audit_entries set actor_name = '${name}' where position = 2`);

describe('checking the newest acts', () => {
  test('counts what is new, and names the VMs that it concerns', async () => {
    expect(await check()).toMatchObject({ count: 0, changed: false });
    await record(vmIds[0]);
    await record(vmIds[1]);
    await record(vmIds[1]);
    await record();
    const news = await check();
    expect(news.count).toBe(4);
    expect(new Set(news.vmIds)).toEqual(new Set([...vmIds, null]));
    expect(await check()).toMatchObject({ count: 0, vmIds: [] });
  });

  test('advances the head in DATA_DIR over valid acts only', async () => {
    await check();
    await record();
    await check(5);
    expect(await readKeptHead(ctx)).toMatchObject({ position: 2, at: later(5).toISOString() });
    await record();
    await run(`update audit_entries set actor_name = 'Eve' where position = 3`);
    await check(10);
    expect(await readKeptHead(ctx)).toMatchObject({ position: 2, at: later(5).toISOString() });
  });

  test('reports a fault once, however often it checks, and again if the fault returns', async () => {
    await check();
    await record();
    await rename('Eve');
    const fault = { kind: 'altered', id: 2, position: 2 };
    expect([(await check()).changed, (await check()).changed, heard]).toEqual([true, false, [fault]]);
    await rename('Test admin');
    expect([(await check()).changed, heard.length]).toEqual([true, 1]);
    expect(await verdict()).toMatchObject({ fault: null });
    await record();
    await run(`update audit_entries set actor_name = 'Eve' where position = 3`);
    await check();
    expect(heard).toEqual([fault, { kind: 'altered', id: 3, position: 3 }]);
  });

  test.each<[seconds: number, writes: boolean]>([
    [0, false],
    [19, false],
    [20, true],
    [-60, true],
  ])('%i seconds later without news: a new verdict is written: %s', async (seconds, writes) => {
    await check();
    await check(seconds);
    expect((await verdict())?.checkedAt).toEqual(writes ? later(seconds) : ctx.now);
  });

  test('the first check of a process writes a verdict, even right after another verdict', async () => {
    await check();
    await check(1, newWatch());
    expect((await verdict())?.checkedAt).toEqual(later(1));
  });
});

describe('checking all acts', () => {
  const checkAll = (seconds = 0, by = watch) => by.checkAll(ctx, later(seconds));

  test('stores when it verified the acts, and how many there were', async () => {
    await check();
    for (let n = 0; n < 3; n += 1) await record();
    await checkAll(7);
    expect(await verdict()).toMatchObject({ verifiedAt: later(7), verifiedPosition: 4, fault: null });
    await check(60);
    expect(await verdict()).toMatchObject({ verifiedAt: later(7), verifiedPosition: 4, checkedAt: later(60) });
  });

  test('finds an old fault that the newest acts do not show, at the end of each round', async () => {
    await check();
    for (let n = 0; n < 3; n += 1) await record();
    await check();
    await rename('Eve');
    expect(await check()).toMatchObject({ count: 0, changed: false });
    expect(heard).toEqual([]);
    expect([await checkAll(), await checkAll()]).toEqual([true, false]);
    expect(heard).toEqual(Array(2).fill({ kind: 'altered', id: 2, position: 2 }));
  });

  longTest('checking more acts than a step reads takes several steps, and writes one verdict', async () => {
    await check();
    await ctx.db.transaction(async (tx) => {
      for (let n = 0; n < 5_000; n += 1) {
        await recordAudit(tx, ctx, { action: 'vm.update', target: { kind: 'vm', id: `${n}` } });
      }
    });
    await checkAll(1);
    expect(await verdict()).toMatchObject({ verifiedAt: null });
    await checkAll(2);
    expect(await verdict()).toMatchObject({ verifiedAt: later(2), verifiedPosition: 5_001 });
  });

  test('a fault found by another worker still counts after a restart, until a complete round finds none', async () => {
    await check();
    await record();
    await check();
    await rename('Eve');
    await checkAll();
    const restarted = newWatch();
    expect((await check(30, restarted)).changed).toBe(false);
    expect(await verdict()).toMatchObject({ fault: { kind: 'altered', position: 2 } });
    await rename('Test admin');
    await check(60, restarted);
    expect(await verdict(), 'the newest acts do not prove it').toMatchObject({ fault: { kind: 'altered' } });
    expect(await checkAll(60, restarted)).toBe(true);
    expect(await verdict()).toMatchObject({ fault: null });
  });
});

describe('the stored verdict', () => {
  beforeEach(async () => {
    await check();
    await record();
    await watch.checkAll(ctx, ctx.now);
  });

  test.each([
    ['the time of the check', `checked_at = checked_at + interval '1 day'`],
    ['the time of the last round', `verified_at = verified_at + interval '1 day'`],
    ['the number of verified acts', 'verified_position = 99'],
    ['a fault', `fault = '{"kind": "altered", "id": 1, "position": 1}'`],
    ['the digest', `verdict = 'fine'`],
    ['no digest', 'verdict = null'],
  ])('does not count once a statement changed %s', async (_, change) => {
    expect(await verdict()).not.toBeNull();
    await run(`update audit_chain set ${change}`);
    expect(await verdict()).toBeNull();
  });

  test('does not count under another key', async () => {
    const { keys } = await testContext({ services: ctx, now: ctx.now });
    expect(readVerdict(keys, await readHead(ctx.db))).not.toBeNull();
    const stranger = { ...keys, audit: Buffer.alloc(32) };
    expect(readVerdict(stranger, await readHead(ctx.db))).toBeNull();
  });

  test('is none before the first act', () => {
    expect(readVerdict(ctx.keys, undefined)).toBeNull();
  });
});

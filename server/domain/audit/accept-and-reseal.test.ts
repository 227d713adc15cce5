import { randomBytes } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { deriveKeys } from '#server/platform/keys.ts';
import { testContext } from '#server/testing/context.ts';
import { longTest } from '#server/testing/long.ts';
import {
  ActivityWatch,
  acceptActivity,
  beginActivity,
  keepResealedHead,
  readHead,
  readKeptHead,
  readVerdict,
  recordAudit,
  resealActivity,
  verifyActivity,
} from './index.ts';

let ctx: Context;
beforeEach(async () => {
  ctx = await testContext({ now: new Date('2030-01-01T10:00:00Z') });
});

const run = (text: string) => ctx.db.execute(sql.raw(text));
const later = (seconds: number) => new Date(ctx.now.getTime() + seconds * 1_000);

/** Begins the activity log, then adds entries until the log has `count` entries. */
async function givenActs(count: number): Promise<void> {
  await beginActivity(ctx, ctx.now);
  for (let n = 2; n <= count; n += 1) {
    const act = { action: 'vm.update' as const, target: { kind: 'vm', id: `vm-${n}` }, details: { n } };
    await ctx.db.transaction((tx) => recordAudit(tx, ctx, act));
  }
  await new ActivityWatch(() => {}).checkNewest(ctx, ctx.now);
}

const verify = async () => verifyActivity(ctx, await readKeptHead(ctx));
const accept = async (reason = 'examined') =>
  acceptActivity(ctx, await readKeptHead(ctx), { reason, person: 'ada', now: later(60) });
const acceptance = async () => {
  const { rows } = await run(`select actor_kind, actor_name, door, details, before from audit_entries
    where action = 'activity.accept' order by position`);
  return rows as { details: { count: number; faults: unknown[]; reason: string }; before: unknown }[];
};

describe('accepting the activity as it is', () => {
  test('records no act if there is nothing to accept', async () => {
    await givenActs(3);
    const before = await readKeptHead(ctx);
    expect(await accept()).toEqual([]);
    expect(await acceptance()).toEqual([]);
    expect(await readKeptHead(ctx)).toEqual(before);
  });

  test('is an act of the person on the machine, with reason, faults and the previous head', async () => {
    await givenActs(4);
    const before = await readKeptHead(ctx);
    await run(`update audit_entries set actor_name = 'Eve' where id in (2, 3)`);
    const faults = [2, 3].map((n) => ({ kind: 'altered', id: n, position: n }));
    expect(await accept('a script of ours')).toEqual(faults);
    expect(await acceptance()).toEqual([
      {
        ...{ actor_kind: 'system', actor_name: 'ada', door: 'cli' },
        details: { reason: 'a script of ours', count: 2, faults },
        before: { position: 4, hash: before?.hash },
      },
    ]);
    expect(await readKeptHead(ctx)).toMatchObject({ position: 5, accepted: { at: later(60).toISOString() } });
    expect(await verify()).toMatchObject({ numbered: 5, faults: [], accepted: 2 });
  });

  test('names twenty faults in the act, and accepts all of them', async () => {
    await givenActs(26);
    await run(`update audit_entries set actor_name = 'Eve' where id <= 25`);
    expect(await accept()).toHaveLength(25);
    const [{ details } = { details: null }] = await acceptance();
    expect([details?.count, details?.faults.length]).toEqual([25, 20]);
    expect(await verify()).toMatchObject({ faults: [], accepted: 25 });
  });

  test('rejects more than a thousand faults, because a backup should be restored instead', async () => {
    await givenActs(1);
    await run(`insert into audit_entries (at, actor_kind, actor_id, actor_name, action, target_kind, target_id,
      request_id, details) select now(), 'user', 'x', 'Eve', 'vm.delete', 'vm', 'y', 'r', '{}'
      from generate_series(1, 999)`);
    await run(`update audit_entries set actor_name = 'Eve' where id = 1`);
    const thousand = await accept('exactly a thousand');
    expect(thousand).toHaveLength(1_000);
    await run(`update audit_entries set actor_name = 'Mallory'`);
    await expect(accept()).rejects.toThrow('Restore a backup of the database.');
    expect(await acceptance()).toHaveLength(1);
  });

  test('also accepts the loss of the head in DATA_DIR, and stores the head there again', async () => {
    await givenActs(3);
    expect(await acceptActivity(ctx, null, { reason: 'disk lost', person: 'ada', now: ctx.now })).toEqual([]);
    expect(await acceptance()).toMatchObject([{ details: { reason: 'disk lost', count: 0 }, before: null }]);
    expect(await readKeptHead(ctx)).toMatchObject({ position: 4 });
    expect(await verify()).toMatchObject({ faults: [] });
  });

  test.each<[string, string, string]>([
    ['an inserted row', 'delete from audit_entries where position is null', 'deleting it later is no fault'],
    ['an inserted row, changed later', `update audit_entries set actor_name = 'Bob' where position is null`, ''],
  ])('%s', async (_, change, allowed) => {
    await givenActs(2);
    await run(`insert into audit_entries (at, actor_kind, actor_id, actor_name, action, target_kind, target_id,
      request_id, details) values (now(), 'user', 'x', 'Eve', 'vm.delete', 'vm', 'y', 'r', '{}')`);
    expect(await accept()).toMatchObject([{ kind: 'inserted', position: null }]);
    expect((await verify()).faults).toEqual([]);
    await run(change);
    expect((await verify()).faults).toMatchObject(allowed ? [] : [{ kind: 'inserted' }]);
  });
});

describe('anchors that were kept elsewhere', () => {
  const anchor = async (position: number, at: string | null = ctx.now.toISOString()) => {
    const { rows } = await run(`select hash from audit_entries where position = ${position}`);
    return { position, hash: String(rows[0]?.hash ?? 'none'), at };
  };
  const verifyWith = async (...anchors: Awaited<ReturnType<typeof anchor>>[]) =>
    verifyActivity(ctx, await readKeptHead(ctx), anchors);

  test('of the chain confirm it, in any number and order', async () => {
    await givenActs(4);
    const anchors = await Promise.all([4, 1, 3].map((position) => anchor(position)));
    const beginning = { position: 0, hash: '', at: null };
    expect(await verifyWith(...anchors, beginning)).toMatchObject({ faults: [], formerAnchors: 0 });
  });

  test.each<[string, number, (own: { hash: string }) => string, object]>([
    ['with another hash', 3, () => 'other', { kind: 'relinked', id: 3, position: 3 }],
    ['beyond the end', 9, () => 'other', { kind: 'truncated', id: 4, position: 5 }],
  ])('%s are a fault', async (_, position, hashOf, fault) => {
    await givenActs(4);
    const own = await anchor(position);
    expect((await verifyWith({ ...own, hash: hashOf(own) })).faults).toEqual([fault]);
  });

  test('of a deleted act report its number only once, together with the gap', async () => {
    await givenActs(4);
    const own = await anchor(2);
    await run('delete from audit_entries where position = 2');
    expect((await verifyWith(own)).faults).toEqual([{ kind: 'deleted', id: 1, position: 2 }]);
  });

  test.each<[string, number | null, number]>([
    ['before the acceptance are former ones', -1, 1],
    ['after it are a fault', 61, 0],
    ['without a time are a fault', null, 0],
  ])('%s', async (_, seconds, former) => {
    await givenActs(4);
    await run(`update audit_entries set actor_name = 'Eve' where id = 2`);
    await accept();
    const at = seconds === null ? null : later(seconds).toISOString();
    const { faults, formerAnchors } = await verifyWith({ position: 3, hash: 'of another chain', at });
    expect([formerAnchors, faults.length]).toEqual([former, 1 - former]);
  });
});

describe('sealing every act under another key', () => {
  const other = deriveKeys(randomBytes(32));
  const reseal = () => ctx.db.transaction((tx) => resealActivity(tx, other, later(60)));

  test('the chain is valid under the new key, but not under the previous key', async () => {
    await givenActs(5);
    const former = await readHead(ctx.db);
    expect(await reseal()).toEqual({ acts: 5, earlierHead: former?.hash });
    expect(await verifyActivity({ db: ctx.db, keys: other }, null)).toMatchObject({ numbered: 5, faults: [] });
    expect((await verifyActivity(ctx, null)).faults.map(({ kind }) => kind)).toEqual(Array(5).fill('altered'));
    expect(await readHead(ctx.db)).toMatchObject({ position: 5 });
    expect((await readHead(ctx.db))?.hash).not.toBe(former?.hash);
  });

  test('the contents and the order of acts do not change', async () => {
    await givenActs(5);
    const read = () =>
      run('select id, position, actor_name, action, target_id, details from audit_entries order by id');
    const before = (await read()).rows;
    await reseal();
    expect((await read()).rows).toEqual(before);
  });

  test('acts of the first release remain unsealed', async () => {
    await givenActs(3);
    await run('update audit_entries set seal = null where position = 1');
    await reseal();
    const { rows } = await run('select seal is null as bare from audit_entries order by position');
    expect(rows).toEqual([{ bare: true }, { bare: false }, { bare: false }]);
    expect((await verifyActivity({ db: ctx.db, keys: other }, null)).faults).toEqual([]);
  });

  test('an empty log can be resealed', async () => {
    expect(await reseal()).toEqual({ acts: 0, earlierHead: '' });
  });

  longTest('more acts than a step handles are all resealed', async () => {
    await givenActs(1);
    await ctx.db.transaction(async (tx) => {
      for (let n = 0; n < 2_000; n += 1) {
        await recordAudit(tx, ctx, { action: 'vm.update', target: { kind: 'vm', id: `${n}` } });
      }
    });
    expect(await reseal()).toMatchObject({ acts: 2_001 });
    expect(await verifyActivity({ db: ctx.db, keys: other }, null)).toMatchObject({ numbered: 2_001, faults: [] });
  });

  test('previous verdicts no longer count', async () => {
    await givenActs(3);
    await new ActivityWatch(() => {}).checkAll(ctx, ctx.now);
    expect(readVerdict(ctx.keys, await readHead(ctx.db))).not.toBeNull();
    await reseal();
    const head = await readHead(ctx.db);
    expect([readVerdict(ctx.keys, head), readVerdict(other, head)]).toEqual([null, null]);
    expect(head).toMatchObject({ verifiedAt: null, verifiedPosition: null, fault: null, checkedAt: null });
  });

  test('the new head is kept in DATA_DIR under the new key, and earlier anchors count as former anchors', async () => {
    await givenActs(3);
    const anchor = { position: 3, hash: (await readHead(ctx.db))?.hash ?? '', at: ctx.now.toISOString() };
    await reseal();
    const services = { ...ctx, keys: other };
    const kept = await keepResealedHead(services, later(120));
    expect(kept).toMatchObject({ position: 3, accepted: { at: later(120).toISOString(), faults: [] } });
    expect(await readKeptHead(services)).toEqual(kept);
    await expect(readKeptHead(ctx)).rejects.toThrow('was not written by this portal');
    expect(await verifyActivity(services, kept, [anchor])).toMatchObject({ faults: [], formerAnchors: 1 });
    expect((await new ActivityWatch(() => {}).checkNewest(services, later(180))).changed).toBe(false);
  });
});

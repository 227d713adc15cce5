import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ChainFault } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { longTest } from '#server/testing/long.ts';
import {
  ActivityWatch,
  acceptActivity,
  beginActivity,
  noteUpgrade,
  readHead,
  readKeptHead,
  readVerdict,
  recordAudit,
  verifyActivity,
} from './index.ts';

let ctx: Context;
let watch: ActivityWatch;
let heard: ChainFault[];

beforeEach(async () => {
  ctx = await testContext();
  heard = [];
  watch = new ActivityWatch((fault) => heard.push(fault));
});

const act = (n: number) => ({
  action: 'vm.update' as const,
  target: { kind: 'vm', id: `vm-${n}` },
  before: { name: `old ${n}` },
  after: { name: `new ${n}`, tags: { b: '1', a: 'ä' }, share: 0.1 },
});

const write = (n: number) => ctx.db.transaction((tx) => recordAudit(tx, ctx, act(n)));

/** Creates a chain of `count` entries that the worker has checked. */
async function written(count: number): Promise<void> {
  await beginActivity(ctx, ctx.now);
  for (let n = 2; n <= count; n += 1) await write(n);
  await check();
}

const check = () => watch.checkNewest(ctx, ctx.now);
const faults = async () => (await verifyActivity(ctx, await readKeptHead(ctx))).faults;
const run = (text: string) => ctx.db.execute(sql.raw(text));
const dropConstraints = async () => {
  await run('alter table audit_entries drop constraint audit_entries_seal');
  await run('alter table audit_entries drop constraint audit_entries_position');
};
const columns = `at, actor_kind, actor_id, actor_name, door, address, client, action, target_kind, target_id, vm_id,
  request_id, details, before, after`;
const forged = `insert into audit_entries (at, actor_kind, actor_id, actor_name, action, target_kind, target_id,
  request_id, details, position) values (now(), 'user', 'x', 'Eve', 'vm.delete', 'vm', 'y', 'r', '{}', `;

/** Sets the head, as an attacker without the key could. */
const setHead = (position: number) =>
  run(`update audit_chain set position = ${position},
    hash = coalesce((select hash from audit_entries where position = ${position} limit 1), '')`);

describe('the chain of entries', () => {
  test('20 concurrent writers, some of which fail, number their entries without a gap', async () => {
    const writer = async (n: number) => {
      for (let i = 0; i < 15; i += 1) {
        await ctx.db
          .transaction(async (tx) => {
            await recordAudit(tx, ctx, act(n));
            await recordAudit(tx, ctx, act(n + 100));
            await tx.execute(sql`select pg_sleep(${(n % 4) * 0.003})`);
            if ((n + i) % 7 === 0) throw new Error('taken back');
          })
          .catch((error: Error) => expect(error.message).toBe('taken back'));
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, n) => writer(n)));
    const committed = Array.from({ length: 300 }, (_, k) => Math.floor(k / 15) + (k % 15)).filter((k) => k % 7 !== 0);
    const verdict = await verifyActivity(ctx, null);
    expect(verdict).toMatchObject({ numbered: 2 * committed.length, faults: [] });
    expect(verdict.head?.position).toBe(2 * committed.length);
  });

  test("an entry gets its number and seal at the commit, after the transaction's other statements", async () => {
    await ctx.db.transaction(async (tx) => {
      await recordAudit(tx, ctx, act(1));
      // The second entry can commit while the first transaction is open, because that transaction has not locked the
      // chain yet.
      await write(2);
    });
    const { rows } = await run(
      'select target_id, position::int, seal is not null as sealed from audit_entries order by 2',
    );
    expect(rows).toEqual([
      { target_id: 'vm-2', position: 1, sealed: true },
      { target_id: 'vm-1', position: 2, sealed: true },
    ]);
  });

  test.each([
    ['its words', `update audit_entries set actor_name = 'Eve' where id = 3`],
    ['its time', `update audit_entries set at = at + interval '1 microsecond' where id = 3`],
    ['what was before', `update audit_entries set before = null where id = 3`],
    ['a part of it', `update audit_entries set after = jsonb_set(after, '{share}', '0.2') where id = 3`],
    ['where it came from', `update audit_entries set address = '198.51.100.1' where id = 3`],
    ['words and link', `update audit_entries set actor_name = 'Eve', hash = repeat('0', 64) where id = 3`],
  ])('altered: %s', async (_what, statement) => {
    await written(5);
    await run(statement);
    expect((await faults())[0]).toEqual({ kind: 'altered', id: 3, position: 3 });
  });

  test('a deleted entry is detected, and the entry before it is named', async () => {
    await written(5);
    await run('delete from audit_entries where id = 3');
    expect(await faults()).toEqual([{ kind: 'deleted', id: 2, position: 3 }]);
  });

  test('an entry deleted before the worker saw it leaves a gap that the next entry reveals', async () => {
    await written(2);
    await write(3);
    await write(4);
    await run('delete from audit_entries where id = 3');
    expect((await faults())[0]).toEqual({ kind: 'deleted', id: 2, position: 3 });
    await check();
    expect(heard).toEqual([{ kind: 'deleted', id: null, position: 3 }]);
    expect(await readKeptHead(ctx)).toMatchObject({ position: 2 });
  });

  test.each([
    ['without a number', 'null'],
    ['at the end', '6'],
    ['before the first', '0'],
    ['far before the first', '-7'],
  ])('inserted: %s', async (_where, position) => {
    await written(5);
    await run(`${forged}${position})`);
    if (position === '6') await setHead(6);
    const found = { kind: 'inserted', id: 6, position: position === 'null' ? null : Number(position) };
    expect((await faults())[0]).toEqual(found);
    await check();
    expect(heard, 'the worker does not take it in').toEqual([found]);
    expect(await readKeptHead(ctx)).toMatchObject({ position: 5 });
    expect((await run('select count(*)::int as n from audit_entries where id = 6 and hash is not null')).rows).toEqual([
      { n: 0 },
    ]);
  });

  test.each([
    ['under the number of another', '2'],
    ['at the end', '6'],
    ['without a number', 'null'],
  ])('replayed: %s', async (_where, position) => {
    await written(5);
    const copy = `insert into audit_entries (${columns}, seal, hash, position) select ${columns}, seal, hash, ${position}
      from audit_entries where id = 2`;
    await expect(run(copy), 'the database itself rejects it').rejects.toThrow();
    await dropConstraints();
    await run(copy);
    if (position === '6') await setHead(6);
    expect((await faults())[0]).toMatchObject({ kind: 'replayed', id: 7 });
  });

  test('truncating head and rows together is detected', async () => {
    await written(5);
    await run('delete from audit_entries where position > 3');
    expect(await faults()).toEqual([{ kind: 'truncated', id: 3, position: 4 }]);
    await setHead(3);
    expect(await faults(), 'the head in DATA_DIR knows better').toEqual([{ kind: 'truncated', id: 3, position: 4 }]);
    await check();
    expect(heard).toEqual([{ kind: 'truncated', id: 3, position: 4 }]);
  });

  test('truncating everything is detected while the portal keeps running', async () => {
    await written(5);
    await run('truncate audit_entries, audit_chain');
    for (const n of [1, 2, 3, 4, 5, 6]) await write(n);
    expect(await faults()).toEqual([{ kind: 'relinked', id: expect.any(Number), position: 5 }]);
  });

  test('truncating is detected after the portal has written past the previous end', async () => {
    await written(5);
    await run('delete from audit_entries where position > 3');
    await setHead(3);
    for (const n of [4, 5, 6]) await write(n);
    expect(await faults()).toEqual([{ kind: 'relinked', id: expect.any(Number), position: 5 }]);
    await check();
    expect(heard[0]).toMatchObject({ kind: 'relinked', position: 5 });
  });

  test('truncating in database and DATA_DIR is detected by an anchor that was stored elsewhere', async () => {
    await written(5);
    const anchor = { position: 5, hash: (await readHead(ctx.db))?.hash ?? '', at: ctx.now.toISOString() };
    expect((await verifyActivity(ctx, null, [anchor])).faults).toEqual([]);
    await run('delete from audit_entries where position > 3');
    await setHead(3);
    expect((await verifyActivity(ctx, null, [anchor])).faults).toEqual([{ kind: 'truncated', id: 3, position: 4 }]);
  });

  test('relinking to close the gap of a removed row is detected', async () => {
    await written(5);
    await run('delete from audit_entries where id = 3');
    await run('update audit_entries set position = 3 where id = 4');
    await run('update audit_entries set position = 4 where id = 5');
    await setHead(4);
    expect((await faults())[0]).toEqual({ kind: 'relinked', id: 4, position: 3 });
  });

  test('relinking rows in another order is detected', async () => {
    await written(5);
    await run('update audit_entries set position = 99 where id = 3');
    await run('update audit_entries set position = 3 where id = 2');
    await run('update audit_entries set position = 2 where position = 99');
    expect((await faults())[0]).toEqual({ kind: 'relinked', id: 3, position: 2 });
  });

  test('removing every number and link, so that the worker creates them again, is detected', async () => {
    await written(5);
    await run(`delete from audit_entries where id = 3`);
    await run(`update audit_entries set position = null, hash = null`);
    await run('delete from audit_chain');
    await check();
    expect(heard[0]).toMatchObject({ kind: 'truncated' });
    expect((await run('select count(position)::int as n from audit_entries')).rows, 'it signs nothing').toEqual([
      { n: 0 },
    ]);
    expect((await faults()).map(({ kind }) => kind)).toContain('relinked');
  });

  test('removing every seal, as if an earlier release had written the rows, is detected', async () => {
    await written(5);
    await run(`update audit_entries set seal = null, actor_name = 'Eve'`);
    expect((await faults())[0]).toEqual({ kind: 'altered', id: 1, position: 1 });
  });
});

describe('entries of the first release', () => {
  /** Creates entries as the first release stored them before its worker linked them: sealed, but without links. */
  async function firstRelease(count: number): Promise<void> {
    for (let n = 1; n <= count; n += 1) await write(n);
    await run('update audit_entries set position = null, hash = null');
    await run('delete from audit_chain');
    await noteUpgrade(ctx, 18);
  }

  test('are adopted once, and the log records it', async () => {
    await firstRelease(3);
    await check();
    expect(await faults()).toEqual([]);
    const { rows } = await run(`select action, details, position::int from audit_entries order by position`);
    expect(rows.at(-1)).toEqual({ action: 'activity.begin', details: { count: 3 }, position: 4 });
    await run('update audit_entries set position = null, hash = null where position > 2');
    await setHead(2);
    await check();
    expect(heard[0], 'not a second time').toMatchObject({ kind: 'truncated', position: 3 });
  });

  longTest('are adopted even without seals, 2,500 of them', async () => {
    await run(`insert into audit_entries (at, actor_kind, actor_id, actor_name, action, target_kind, target_id, request_id,
      details) select now()::timestamptz(3), 'user', 'x', 'Ada', 'vm.delete', 'vm', 'y', 'r', '{"name": "a"}'
      from generate_series(1, 2500)`);
    await noteUpgrade(ctx, 1);
    await check();
    expect(await verifyActivity(ctx, await readKeptHead(ctx))).toMatchObject({ numbered: 2_501, faults: [] });
    await run(`update audit_entries set details = '{}' where id = 7`);
    expect((await faults())[0]).toEqual({ kind: 'altered', id: 7, position: 7 });
    const other = await testContext();
    expect((await verifyActivity({ db: ctx.db, keys: other.keys }, null)).faults.length).toBeGreaterThan(2_000);
  });

  const forgedRows = `${forged}null)`;

  test('rows inserted into an emptied log are not adopted, even if DATA_DIR lost its head', async () => {
    await written(3);
    await run('truncate audit_entries, audit_chain');
    await run(forgedRows);
    await rm(join(ctx.config.dataDir, 'activity-head.json'));
    await check();
    expect(heard).toMatchObject([{ kind: 'inserted', position: null }]);
    const { rows } = await run(
      'select actor_name, action, details, hash is null as bare from audit_entries order by id',
    );
    expect(rows).toEqual([
      { actor_name: 'Eve', action: 'vm.delete', details: {}, bare: true },
      { actor_name: 'Annex', action: 'activity.renew-head', details: { count: 0 }, bare: false },
    ]);
  });

  test('rows are not adopted if all of DATA_DIR is new, as on another machine', async () => {
    await run(forgedRows);
    await check();
    expect(heard).toMatchObject([{ kind: 'inserted', position: null }]);
  });

  test('rows are not adopted if a database of that release replaces the current database', async () => {
    await written(3);
    await rm(join(ctx.config.dataDir, 'activity-head.json'));
    await run('truncate audit_entries, audit_chain');
    await run(forgedRows);
    await noteUpgrade(ctx, 1);
    await check();
    expect(heard).toMatchObject([{ kind: 'inserted', position: null }]);
  });

  test('an upgrade recorded without the key is ignored', async () => {
    await run(forgedRows);
    await noteUpgrade({ ...ctx, keys: (await testContext()).keys }, 1);
    await check();
    expect(heard).toMatchObject([{ kind: 'inserted', position: null }]);
  });

  test('if DATA_DIR lost its head, nothing is adopted and the log records a new head', async () => {
    await written(3);
    await rm(join(ctx.config.dataDir, 'activity-head.json'));
    await run(`${forged}null)`);
    await check();
    expect(heard[0]).toMatchObject({ kind: 'inserted', position: null });
    const { rows } = await run(`select position::int from audit_entries where action = 'activity.renew-head'`);
    expect(rows).toEqual([{ position: 4 }]);
  });

  test('a head that this portal did not write is rejected', async () => {
    await written(3);
    const path = join(ctx.config.dataDir, 'activity-head.json');
    const kept = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({ ...kept, position: 2 }));
    await expect(check()).rejects.toThrow('was not written by this portal');
  });
});

describe("the worker's verdict", () => {
  test('is stored sealed with the head until the chain is intact again', async () => {
    await written(5);
    const verdict = async () => readVerdict(ctx.keys, await readHead(ctx.db));
    expect(await watch.checkAll(ctx, ctx.now)).toBe(false);
    expect(await verdict()).toMatchObject({ verifiedPosition: 5, fault: null });
    const [row] = (await run(`select actor_name from audit_entries where id = 4`)).rows;
    await run(`update audit_entries set actor_name = 'Eve' where id = 4`);
    expect(await watch.checkAll(ctx, ctx.now), 'it breaks').toBe(true);
    expect(heard).toEqual([{ kind: 'altered', id: 4, position: 4 }]);
    expect(await verdict()).toMatchObject({ fault: { id: 4 } });
    expect(await watch.checkAll(ctx, ctx.now), 'it is still broken').toBe(false);

    await run('update audit_chain set fault = null');
    expect(await verdict(), 'a statement does not make it hold').toBeNull();
    const later = new Date(ctx.now.getTime() + 60_000);
    await watch.checkNewest(ctx, later);
    expect(await verdict()).toMatchObject({ fault: { id: 4 }, checkedAt: later });

    await run(`update audit_entries set actor_name = '${row?.actor_name}' where id = 4`);
    expect(await watch.checkAll(ctx, later), 'it holds again').toBe(true);
    expect(await verdict()).toMatchObject({ fault: null });
  });

  test('a restored backup is a fault until accepted with a reason; the same loss later is a new fault', async () => {
    await written(5);
    const restore = async () => {
      await run('delete from audit_entries where position > 3');
      await setHead(3);
    };
    const accept = async () =>
      acceptActivity(ctx, await readKeptHead(ctx), { reason: 'restored', person: 'ada', now: new Date() });
    const anchor = { position: 5, hash: (await readHead(ctx.db))?.hash ?? '', at: ctx.now.toISOString() };
    await restore();
    expect(await accept()).toEqual([{ kind: 'truncated', id: 3, position: 4 }]);
    expect(await faults()).toEqual([]);
    await check();
    expect(heard).toEqual([]);
    expect((await run('select actor_name, details from audit_entries where position = 4')).rows).toMatchObject([
      { actor_name: 'ada', details: { reason: 'restored', count: 1 } },
    ]);
    expect(await verifyActivity(ctx, await readKeptHead(ctx), [anchor])).toMatchObject({
      faults: [],
      formerAnchors: 1,
    });
    expect(await accept(), 'there is nothing left to accept').toEqual([]);
    await restore();
    expect(await faults()).toEqual([{ kind: 'truncated', id: 3, position: 4 }]);
  });

  test('an altered entry that was accepted no longer counts, but another altered entry does', async () => {
    await written(5);
    await run(`update audit_entries set actor_name = 'Eve' where id = 2`);
    await acceptActivity(ctx, await readKeptHead(ctx), { reason: 'examined', person: 'ada', now: new Date() });
    expect(await verifyActivity(ctx, await readKeptHead(ctx))).toMatchObject({ faults: [], accepted: 1 });
    await run(`update audit_entries set actor_name = 'Eve' where id = 3`);
    expect(await faults()).toEqual([{ kind: 'altered', id: 3, position: 3 }]);
  });

  test('an accepted entry counts again when it is altered again', async () => {
    await written(5);
    await run(`update audit_entries set actor_name = 'Eve' where id = 2`);
    await acceptActivity(ctx, await readKeptHead(ctx), { reason: 'examined', person: 'ada', now: new Date() });
    await run(`update audit_entries set actor_name = 'Mallory' where id = 2`);
    expect(await faults()).toEqual([{ kind: 'altered', id: 2, position: 2 }]);
  });
});

import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { createChainCheck, findAnchor, linkActs, readHead, recordAudit, verifyActivity } from './index.ts';

let ctx: Context;

beforeEach(async () => {
  ctx = await testContext();
});

const act = (n: number) => ({
  action: 'vm.update' as const,
  target: { kind: 'vm', id: `vm-${n}` },
  before: { name: `old ${n}` },
  after: { name: `new ${n}`, tags: { b: '1', a: 'ä' }, share: 0.1 },
});

const write = (n: number) => ctx.db.transaction((tx) => recordAudit(tx, ctx, act(n)));

async function linked(count: number): Promise<void> {
  for (let n = 1; n <= count; n += 1) await write(n);
  await linkActs(ctx, ctx.now);
}

const faults = async () => (await verifyActivity(ctx)).faults;
const run = (text: string) => ctx.db.execute(sql.raw(text));

describe('the chain of acts', () => {
  test('20 writers at once and two linkers: every act has one place, without a gap', async () => {
    let writing = true;
    const link = async () => {
      while (writing) await linkActs(ctx, ctx.now);
    };
    const linkers = [link(), link()];
    const writer = async (n: number) => {
      for (let i = 0; i < 15; i += 1) {
        await ctx.db
          .transaction(async (tx) => {
            await recordAudit(tx, ctx, act(n));
            // Some wait before they commit, some do not commit: numbers are neither in order nor without gaps.
            await tx.execute(sql`select pg_sleep(${(n % 4) * 0.003})`);
            if ((n + i) % 7 === 0) throw new Error('taken back');
          })
          .catch((error: Error) => expect(error.message).toBe('taken back'));
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, n) => writer(n)));
    writing = false;
    await Promise.all(linkers);
    await linkActs(ctx, ctx.now);
    const verdict = await verifyActivity(ctx);
    const committed = Array.from({ length: 300 }, (_, k) => Math.floor(k / 15) + (k % 15)).filter((k) => k % 7 !== 0);
    expect(verdict).toMatchObject({ linked: committed.length, unlinked: 0, faults: [] });
    expect(verdict.head?.position).toBe(committed.length);
  });

  test('acts that are not linked yet are counted, and checked by their seal', async () => {
    await linked(2);
    await write(3);
    expect(await verifyActivity(ctx)).toMatchObject({ linked: 2, unlinked: 1, faults: [] });
    await run(`update audit_entries set actor_name = 'Eve' where id = 3`);
    expect(await faults()).toEqual([{ kind: 'altered', id: 3, position: null }]);
  });

  test.each([
    ['its words', `update audit_entries set actor_name = 'Eve' where id = 3`, 'altered'],
    ['its time', `update audit_entries set at = at + interval '1 microsecond' where id = 3`, 'altered'],
    ['what was before', `update audit_entries set before = null where id = 3`, 'altered'],
    ['a part of it', `update audit_entries set after = jsonb_set(after, '{share}', '0.2') where id = 3`, 'altered'],
    ['where it came from', `update audit_entries set address = '198.51.100.1' where id = 3`, 'altered'],
    ['its mark', `update audit_entries set seal = null where id = 3`, 'foreign'],
    ['its hash', `update audit_entries set hash = repeat('0', 64) where id = 3`, 'moved'],
  ])('a row that was altered: %s', async (_what, statement, kind) => {
    await linked(5);
    await run(statement);
    expect((await faults())[0]).toEqual({ kind, id: 3, position: 3 });
  });

  test('a row that was removed: the one before it is named', async () => {
    await linked(5);
    await run('delete from audit_entries where id = 3');
    expect(await faults()).toEqual([{ kind: 'removed', id: 2, position: 3 }]);
  });

  test('a row that was removed and its gap closed', async () => {
    await linked(5);
    await run('delete from audit_entries where id = 3');
    await run('update audit_entries set position = 3 where id = 4');
    await run('update audit_entries set position = 4 where id = 5');
    await run(`update audit_chain set position = 4`);
    expect((await faults())[0]).toEqual({ kind: 'moved', id: 4, position: 3 });
  });

  test('rows that changed places', async () => {
    await linked(5);
    await run('update audit_entries set position = 99 where id = 3');
    await run('update audit_entries set position = 3 where id = 2');
    await run('update audit_entries set position = 2 where id = 99 or position = 99');
    expect((await faults())[0]).toEqual({ kind: 'moved', id: 3, position: 2 });
  });

  test('a row that was put between, with a copied mark or without', async () => {
    await linked(3);
    const columns = `at, actor_kind, actor_id, actor_name, door, address, client, action, target_kind, target_id, vm_id,
      request_id, details, before, after`;
    await run('update audit_entries set position = 4 where id = 3');
    await run(
      `insert into audit_entries (${columns}, position, hash) select ${columns}, 3, hash from audit_entries where id = 2`,
    );
    await run('update audit_chain set position = 4');
    expect((await faults())[0]).toMatchObject({ kind: 'foreign', position: 3 });
    await expect(
      run(`insert into audit_entries (${columns}, seal) select ${columns}, seal from audit_entries where id = 2`),
    ).rejects.toThrow();
  });

  test('a row written past the portal is linked and found', async () => {
    await linked(2);
    await run(`insert into audit_entries (at, actor_kind, actor_id, actor_name, action, target_kind, target_id, request_id,
      details) values (now(), 'user', 'x', 'Ada', 'vm.delete', 'vm', 'y', 'r', '{}')`);
    expect(await faults()).toMatchObject([{ kind: 'foreign', id: 3 }]);
    await linkActs(ctx, ctx.now);
    expect((await faults())[0]).toMatchObject({ kind: 'foreign', id: 3, position: 3 });
  });

  test('a row that was put before the first, where no walk comes by', async () => {
    await linked(2);
    for (const place of [0, -7]) {
      await run(`insert into audit_entries (at, actor_kind, actor_id, actor_name, action, target_kind, target_id,
        request_id, details, position) values (now(), 'user', 'x', 'Ada', 'vm.delete', 'vm', 'y', 'r', '{}', ${place})`);
    }
    expect(await faults()).toEqual([
      { kind: 'foreign', id: 4, position: -7 },
      { kind: 'foreign', id: 3, position: 0 },
    ]);
  });

  test('a tail that was cut off: by the head, by an anchor in the database, by one that was kept elsewhere', async () => {
    await linked(5);
    const anchor = (await readHead(ctx.db))?.hash ?? '';
    expect(await findAnchor(ctx, `5:${anchor}`)).toBe(5);
    await run('delete from audit_entries where position > 3');
    expect(await faults()).toMatchObject([
      { kind: 'cut', position: 5 },
      { kind: 'cut', id: 3, position: 4 },
    ]);
    await run(`update audit_chain set position = 3, hash = (select hash from audit_entries where position = 3)`);
    expect(await faults()).toMatchObject([{ kind: 'cut', position: 5 }]);
    await run('delete from audit_anchors');
    expect(await faults()).toEqual([]);
    expect(await findAnchor(ctx, anchor)).toBeNull();
  });

  test('rows from before there were seals begin the chain; another key does not fit', async () => {
    const old = await testContext();
    await old.db.execute(sql`insert into audit_entries (at, actor_kind, actor_id, actor_name, action, target_kind,
      target_id, request_id, details) select now()::timestamptz(3), 'user', 'x', 'Ada', 'vm.delete', 'vm', 'y', 'r', '{"name": "a"}'
      from generate_series(1, 2500)`);
    ctx = old;
    for (const count of [1_000, 1_000, 500, 0]) expect((await linkActs(ctx, ctx.now)).count).toBe(count);
    await linked(1);
    expect(await verifyActivity(ctx)).toMatchObject({ linked: 2_501, faults: [] });
    await run(`update audit_entries set details = '{}' where id = 7`);
    expect((await faults())[0]).toEqual({ kind: 'altered', id: 7, position: 7 });
    const other = await testContext();
    expect((await verifyActivity({ db: ctx.db, keys: other.keys })).faults.length).toBeGreaterThan(2_000);
  });

  test('the check by pieces keeps what it found beside the head', async () => {
    await linked(5);
    const found: unknown[] = [];
    const check = createChainCheck((fault) => found.push(fault));
    expect(await check(ctx, ctx.now)).toBe(false);
    expect(await readHead(ctx.db)).toMatchObject({ verifiedPosition: 5, fault: null });
    const [row] = (await run(`select actor_name from audit_entries where id = 4`)).rows;
    await run(`update audit_entries set actor_name = 'Eve' where id = 4`);
    expect(await check(ctx, ctx.now), 'it breaks').toBe(true);
    expect(found).toEqual([{ kind: 'altered', id: 4, position: 4 }]);
    expect(await readHead(ctx.db)).toMatchObject({ fault: { id: 4 } });
    expect(await check(ctx, ctx.now), 'it is still broken').toBe(false);
    await run(`update audit_entries set actor_name = '${row?.actor_name}' where id = 4`);
    expect(await check(ctx, ctx.now), 'it holds again').toBe(true);
    expect(await readHead(ctx.db)).toMatchObject({ fault: null });
  });
});

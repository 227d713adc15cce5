import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { hooksDue } from '#protocol/hooks.ts';
import { newUnitRecord } from '#protocol/unit-record.ts';
import { changesChannel } from '#server/domain/changes/index.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { flush } from './flush.ts';
import { relationsOf } from './members.ts';
import { endRelationsOf } from './service-relations.ts';
import { RelationStage, type StagedUnit } from './testing/relation-stage.ts';
import { unitsChannel } from './wake.ts';

let stage: RelationStage;
let appId: string;
let app: StagedUnit;
let base: StagedUnit;
let relation: number;
beforeAll(async () => {
  stage = await RelationStage.open();
  appId = await stage.service('app', { requires: { db: { interface: 'store' }, aux: { interface: 'aux' } } });
  const baseId = await stage.service('base', {
    provides: { store: { interface: 'store' }, aux: { interface: 'aux' } },
  });
  relation = await stage.relate('app:db', 'base:store');
  app = await stage.unit(appId);
  base = await stage.unit(baseId);
});

const node = async (unit: StagedUnit, of = relation) => stage.read(unit, of, unit.name);
const runRow = async (id: string) =>
  (await stage.ctx.db.execute<Record<string, unknown>>(sql`select * from hook_runs where id = ${id}`)).rows[0];
const refusal = { code: 'node_too_large' };

describe('the flush of a hook', () => {
  test('EN-10 the changes of a hook that ended with 0 appear together; those of another never do', async () => {
    const before = await node(base);
    const failed = await stage.begin(base);
    const set = { host: '"10.0.0.4"', port: '3306' };
    await stage.end(base, failed, { outcome: 'failed', changes: [{ relation, set, remove: [] }] });
    expect(await node(base)).toEqual(before);
    const flushed = await stage.set(base, relation, set);
    expect(flushed).toMatchObject({ outcome: 'stored', versions: { [relation]: 2 }, dropped: [] });
    expect(await stage.read(app, relation, base.name)).toEqual({ version: 2, settings: set });
  });

  test('EN-11 only the keys that the hook changed are written', async () => {
    await stage.set(base, relation, { kept: '1', gone: '2', other: '3' });
    await stage.set(base, relation, { other: '4' }, ['gone', 'never']);
    const { settings } = await node(base);
    expect(settings).toMatchObject({ kept: '1', other: '4' });
    expect(settings).not.toHaveProperty('gone');
  });

  test('EN-40 setting an equal value, or removing an absent key, gives no version and no tick', async () => {
    await stage.set(base, relation, { same: '"x"' });
    const [before, clock] = [await node(base), await stage.clock(relation)];
    const flushed = await stage.set(base, relation, { same: '"x"' }, ['absent']);
    expect(flushed).toMatchObject({ outcome: 'stored', versions: {}, dropped: [] });
    expect([await node(base), await stage.clock(relation)]).toEqual([before, clock]);
  });

  test('EN-42 values come back as they were set, whatever JSON they are', async () => {
    const deep = `${'['.repeat(60)}${']'.repeat(60)}`;
    const values = {
      long: '12345678901234567890',
      ...{
        huge: '1e400',
        zero: '-0',
        nul: '"\\u0000"',
        half: '"\\ud800"',
        deep,
        empty: '""',
        'a/b\n': '{"__proto__":1}',
      },
      ...JSON.parse('{"__proto__":"1","constructor":"2"}'),
    };
    await stage.set(base, relation, Object.fromEntries(Object.entries(values)) as Record<string, string>);
    const { settings } = await stage.read(app, relation, base.name);
    for (const [key, text] of Object.entries(values))
      expect(Object.getOwnPropertyDescriptor(settings, key)?.value).toBe(text);
  });

  test('EN-28 the other side’s hook for the change is due, and no longer after it confirmed the version', async () => {
    const goal = async () => ({
      ...{ goal: 'alive' as const, settingsVersion: 1, formula: { version: '1', hooks: [] } },
      relations: (await relationsOf(stage.ctx.db, [app.id], new Map())).get(app.id) ?? [],
    });
    await stage.set(base, relation, { changed: '"now"' });
    const { version } = await node(base);
    const record = newUnitRecord();
    const ready = {
      ...record,
      formula: '1',
      configured: { settings: 1, formula: '1', boot: null },
      started: { boot: null },
    };
    const knows = (known: number) => ({
      ...ready,
      relations: { [relation]: { name: 'db', members: { [base.name]: known }, broken: false } },
    });
    expect(hooksDue(await goal(), knows(version - 1))).toMatchObject([
      { hook: 'db-relation-changed', remoteUnit: base.name, version },
    ]);
    expect(hooksDue(await goal(), knows(version))).toEqual([]);
  });

  test('EN-59 a run that ends twice, even at the same time, is stored once and answers the same versions', async () => {
    const run = await stage.begin(base);
    const ends = await Promise.all(
      [1, 2, 3].map((n) => stage.end(base, run, { changes: [{ relation, set: { n: `${n}` }, remove: [] }] })),
    );
    const [stored] = ends.filter(({ outcome }) => outcome === 'stored');
    expect(ends.map(({ outcome }) => outcome).sort()).toEqual(['repeated', 'repeated', 'stored']);
    for (const end of ends) expect(end.versions).toEqual(stored?.versions);
    await stage.set(base, relation, { n: '9' });
    expect(await stage.end(base, run)).toMatchObject({
      outcome: 'repeated',
      was: 'succeeded',
      versions: stored?.versions,
    });
  });

  test('a run of another unit, an unknown one and one of a removed unit write nothing', async () => {
    const before = await node(base);
    const change = { changes: [{ relation, set: { stolen: '1' }, remove: [] }] };
    expect(await stage.end(base, await stage.begin(app), change)).toMatchObject({ outcome: 'unknown' });
    expect(await stage.end(base, app.id, change)).toMatchObject({ outcome: 'unknown', was: null });
    const gone = await stage.unit(appId);
    const run = await stage.begin(gone);
    await stage.ctx.db.execute(sql`update units set removed_at = now() where id = ${gone.id}`);
    expect(await stage.end(gone, run, change)).toMatchObject({ outcome: 'unknown' });
    expect(await node(base)).toEqual(before);
  });

  test('EN-61 what a hook set in a relation that ended meanwhile is not stored, and the response says so; the rest is stored', async () => {
    const auxId = await stage.service('going', { requires: { aux: { interface: 'aux' } } });
    const going = await stage.relate('going', 'base');
    const unit = await stage.unit(auxId);
    await stage.ctx.db.transaction((tx) => endRelationsOf(tx, stage.ctx, auxId));
    const run = await stage.begin(base);
    const changes = [going, relation].map((of) => ({ relation: of, set: { late: '1' }, remove: [] }));
    expect(await stage.end(base, run, { changes })).toMatchObject({ dropped: [going] });
    expect((await stage.read(unit, going, base.name)).settings).toEqual({});
    expect((await node(base)).settings).toMatchObject({ late: '1' });
    expect(await stage.end(base, run)).toMatchObject({ outcome: 'repeated', dropped: [going] });
  });

  test('what a hook sets in a relation without the unit is not stored', async () => {
    const other = await stage.service('foreign', { requires: { db: { interface: 'store' } } });
    const foreign = await stage.relate('foreign', 'base:store');
    const reader = await stage.unit(other);
    expect(await stage.set(app, foreign, { x: '1' })).toMatchObject({ versions: {}, dropped: [foreign] });
    await expect(stage.read(app, foreign, reader.name)).rejects.toMatchObject({ code: 'node_unknown' });
  });

  test('the run has how it ended, and its views', async () => {
    const run = await stage.begin(app, { hook: 'db-relation-changed', relationId: relation, remote: base, version: 1 });
    const views = [{ relation, unit: base.name, version: 1 }, { settings: 1 }];
    const end = { exitCode: 3, signal: null, seconds: 1.5, views, reason: { id: 'no_database', params: ['x'] } };
    await stage.end(app, run, { outcome: 'failed', end });
    expect(await runRow(run)).toMatchObject({
      ...{ outcome: 'failed', exit_code: 3, seconds: 1.5, views, reason: end.reason, refused: null },
      result: { versions: {}, dropped: [] },
    });
  });
});

describe('limits of a node', () => {
  test('a node with too many bytes or keys is rejected, and nothing of the run is stored', async () => {
    const unit = await stage.unit(appId);
    const run = await stage.begin(unit);
    const fill = (set: Record<string, string>) => ({ changes: [{ relation, set, remove: [] }] });
    // Braces, the key in quotes and a colon have nine bytes, and the quotes of the value two.
    await expect(stage.end(unit, run, fill({ full: `"${'x'.repeat(63_990)}"` }))).rejects.toMatchObject(refusal);
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`k${n}`, '1']));
    await expect(stage.end(unit, run, fill(many))).rejects.toMatchObject(refusal);
    expect(await runRow(run)).toMatchObject({ outcome: 'running' });
    await stage.end(unit, run, fill({ full: `"${'x'.repeat(63_989)}"` }));
    const next = await stage.begin(unit);
    await expect(stage.end(unit, next, fill({ more: '1' }))).rejects.toMatchObject(refusal);
    expect(Object.keys((await node(unit)).settings)).toEqual(['full']);
  });

  test.each([
    ['empty', ''],
    ['NUL', 'a\u0000b'],
    ['too long', 'k'.repeat(256)],
    ['half a character', '\ud800'],
  ])('a key that is %s is rejected', async (_, key) => {
    const run = await stage.begin(app);
    const changes = [{ relation, set: { [key]: '1' }, remove: [] }];
    await expect(stage.end(app, run, { changes })).rejects.toMatchObject({ code: 'node_key_form' });
  });
});

describe('what a hook of a relation confirms', () => {
  const seen = async () =>
    (
      await stage.ctx.db.execute<{ version: number | null }>(sql`
        select version from relation_seen where relation_id = ${relation} and unit_id = ${app.id} and remote_unit_id = ${base.id}`)
    ).rows;

  test('EN-37 changed confirms the version that was known when it began, and departed forgets the unit', async () => {
    const ofBase = { relationId: relation, remote: base };
    const run = async (kind: string, version?: number) =>
      stage.end(
        app,
        await stage.begin(app, { hook: `db-relation-${kind}`, ...ofBase, ...(version !== undefined && { version }) }),
      );
    await run('joined', 5);
    expect(await seen()).toEqual([{ version: null }]);
    const changed = await stage.begin(app, { hook: 'db-relation-changed', ...ofBase, version: 5 });
    await stage.set(base, relation, { while: '"it runs"' });
    await stage.end(app, changed);
    expect(await seen()).toEqual([{ version: 5 }]);
    const failing = await stage.begin(app, { hook: 'db-relation-changed', ...ofBase, version: 6 });
    await stage.end(app, failing, { outcome: 'failed' });
    expect(await seen()).toEqual([{ version: 5 }]);
    await run('departed');
    expect(await seen()).toEqual([]);
  });

  test('the last broken hook ends a dying relation', async () => {
    const one = await stage.service('lasta', { requires: { db: { interface: 'last' } } });
    const other = await stage.service('lastb', { provides: { db: { interface: 'last' } } });
    const last = await stage.relate('lasta', 'lastb');
    const units = [await stage.unit(one), await stage.unit(other)] as const;
    await stage.ctx.db.transaction((tx) => endRelationsOf(tx, stage.ctx, one));
    const breaks = async (unit: StagedUnit) =>
      stage.end(unit, await stage.begin(unit, { hook: 'db-relation-broken', relationId: last }));
    expect((await breaks(units[0])).endedServices).toEqual([]);
    await expect(stage.read(units[0], last, units[1].name)).rejects.toMatchObject({ code: 'node_unknown' });
    expect((await breaks(units[1])).endedServices).toEqual([one, other].sort());
    const { rows } = await stage.ctx.db.execute<{ clock: number; unit: string; hook: string }>(sql`
      select l.clock::int, u.name as unit, r.hook from relation_log l join units u on u.id = l.unit_id
        join hook_runs r on r.vm_id = l.run_vm and r.id = l.run_id
       where l.relation_id = ${last} and l.kind = 'broken' order by l.clock`);
    const clock = await stage.clock(last);
    expect(rows, 'each of them is an event of the relation').toEqual(
      units.map(({ name }, index) => ({ clock: clock - 1 + index, unit: name, hook: 'db-relation-broken' })),
    );
  });
});

describe('flushes and participants', () => {
  test('EN-72 a flush executes as many statements and writes as many rows with 1,000 participants as with 2', async () => {
    const cost = async (participants: number, name: string) => {
      const a = await stage.service(`${name}a`, { requires: { db: { interface: name } } });
      const b = await stage.service(`${name}b`, { provides: { db: { interface: name } } });
      const of = await stage.relate(`${name}a`, `${name}b`);
      const writer = await stage.unit(b);
      const others = await stage.units(a, participants - 1, { started: false });
      await stage.enter(others, of);
      const run = await stage.begin(writer);
      const end = { exitCode: 0, signal: null, seconds: 1, views: [], reason: null };
      const changes = [{ relation: of, set: { host: '"a"' }, remove: [] }];
      const input = { vmId: writer.vmId, unitId: writer.id, runId: run, outcome: 'succeeded' as const };
      return stage.ctx.db.transaction(async (tx) => {
        // The counts also have what earlier transactions of the connection wrote.
        const written = async () => {
          const { rows } = await tx.execute<{ rows: string }>(sql`
            select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) as rows from pg_stat_xact_user_tables`);
          return Number(rows[0]?.rows);
        };
        const before = await written();
        const statements = await statementsOf(() => flush(tx, stage.ctx, { ...input, end: { ...end, changes } }));
        return { statements: statements.length, rows: (await written()) - before };
      });
    };
    const two = await cost(2, 'two');
    expect(two.statements).toBe(1);
    expect(two.rows).toBeGreaterThan(3);
    expect(await cost(1_000, 'thousand')).toEqual(two);
  }, 60_000);

  test('EN-59 flushes into crossing relations at the same time never wait for each other, and all are stored', async () => {
    const a = await stage.service('crossa', { requires: { one: { interface: 'one' }, two: { interface: 'two' } } });
    const b = await stage.service('crossb', { provides: { one: { interface: 'one' }, two: { interface: 'two' } } });
    const ids = [await stage.relate('crossa:one', 'crossb:one'), await stage.relate('crossa:two', 'crossb:two')];
    const units = [...(await stage.units(a, 4)), ...(await stage.units(b, 4))];
    const before = await Promise.all(ids.map((id) => stage.clock(id)));
    const rounds = 6;
    await Promise.all(
      units.map(async (unit, n) => {
        const order = n % 2 === 0 ? ids : ids.toReversed();
        for (let round = 0; round < rounds; round += 1) {
          const changes = order.map((id) => ({ relation: id, set: { round: `${round}` }, remove: [] }));
          await stage.end(unit, await stage.begin(unit), { changes });
        }
      }),
    );
    const after = await Promise.all(ids.map((id) => stage.clock(id)));
    expect(after.map((clock, n) => clock - (before[n] ?? 0))).toEqual([units.length * rounds, units.length * rounds]);
    for (const unit of units)
      expect(await node(unit, ids[0])).toEqual({ version: 1 + rounds, settings: { round: '5' } });
  }, 60_000);

  test('a flush wakes the polls of its relations and open pages after the commit, a failed one does not', async () => {
    const heard: string[] = [];
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    const listening = stage.ctx.wakes.listen([unitsChannel, changesChannel], {
      heard: (_, payload) => void heard.push(payload),
      lost: () => {},
      back: resolve,
    });
    await ready;
    const run = await stage.begin(base);
    await stage.end(base, run, { outcome: 'failed' });
    await stage.set(base, relation, { woken: '"yes"' });
    await expect.poll(() => heard, { timeout: 10_000 }).toContain(`r${relation}`);
    const changes = heard.filter((payload) => payload.startsWith('{')).map((payload) => JSON.parse(payload));
    expect(changes).toContainEqual({ topic: 'relation', key: String(relation) });
    expect(heard.filter((payload) => payload.startsWith('r'))).toHaveLength(1);
    await listening.close();
  });
});

import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { hooksDue } from '#protocol/hooks.ts';
import { newUnitRecord } from '#protocol/unit-record.ts';
import { relationsOf } from './members.ts';
import { confirmRelationHooks, forgetParticipants } from './participants.ts';
import { endRelationsOf, setPeerRelations } from './service-relations.ts';
import { RelationStage, type StagedUnit } from './testing/relation-stage.ts';

let stage: RelationStage;
beforeAll(async () => {
  stage = await RelationStage.open();
});

let count = 0;
/** Deploys two services with a relation, and units that have started. */
async function related(units = 1) {
  count += 1;
  const [app, base] = [`app${count}`, `base${count}`].map((name) =>
    name.replace(/\d/g, (d) => 'abcdefghij'[Number(d)] ?? ''),
  );
  if (app === undefined || base === undefined) throw new Error('no names');
  const appId = await stage.service(app, { requires: { db: { interface: 'store' } } });
  const baseId = await stage.service(base, { provides: { store: { interface: 'store' } } });
  const relation = await stage.relate(app, base);
  return { app: await stage.units(appId, units), base: await stage.units(baseId, units), relation, appId, baseId };
}

const relationOf = async (unit: StagedUnit, after: [number, number][] = []) =>
  (await relationsOf(stage.ctx.db, [unit.id], new Map(after))).get(unit.id)?.[0];
const members = async (unit: StagedUnit, after: [number, number][] = []) =>
  (await relationOf(unit, after))?.members.map((one) => ({ ...one, clock: undefined, since: undefined }));
const revision = async ({ vmId }: StagedUnit) => {
  const { rows } = await stage.ctx.db.execute<{ revision: string }>(
    sql`select revision from unit_heads where vm_id = ${vmId}`,
  );
  return Number(rows[0]?.revision ?? 0);
};

describe('members of a relation', () => {
  test('EN-34 a unit is a member from when it started, with an empty node at version 1', async () => {
    const { appId, base, relation } = await related();
    const late = await stage.unit(appId, { started: false });
    const [other] = base as [StagedUnit];
    expect(await members(other)).toHaveLength(1);
    expect(await relationOf(late)).toBeUndefined();
    await stage.start(late);
    expect(await members(other)).toContainEqual({ unit: late.name, version: 1 });
    expect(await stage.read(other, relation, late.name)).toEqual({ version: 1, settings: {} });
    expect(await revision(late)).toBe(1);
  });

  test('a unit that starts again after a reboot moves no clock', async () => {
    const { app, relation } = await related();
    const before = await stage.clock(relation);
    await stage.start(app[0] as StagedUnit);
    expect(await stage.clock(relation)).toBe(before);
  });

  test('EN-34 units that started before their services were related enter the relation', async () => {
    const appId = await stage.service('early', { requires: { db: { interface: 'store' } } });
    const [one] = await stage.units(appId, 2);
    const baseId = await stage.service('earlybase', { provides: { store: { interface: 'store' } } });
    const base = await stage.unit(baseId);
    const relation = await stage.relate('early', 'earlybase');
    expect((await members(base))?.map(({ unit }) => unit)).toEqual(['early/0', 'early/1']);
    expect(await members(one as StagedUnit)).toEqual([{ unit: 'earlybase/0', version: 1 }]);
    expect(await stage.clock(relation)).toBe(3);
    expect(await revision(base)).toBe(1);
  });

  test('with a clock, only members that moved since are listed; a clock of a restored database is ignored', async () => {
    const { app, base, relation } = await related(2);
    const [reader] = app as [StagedUnit];
    const clock = await stage.clock(relation);
    expect(await relationOf(reader, [[relation, clock]])).toMatchObject({ whole: false, clock, members: [] });
    await stage.set(base[1] as StagedUnit, relation, { host: '"b"' });
    expect(await relationOf(reader, [[relation, clock]])).toMatchObject({
      whole: false,
      members: [{ unit: base[1]?.name, version: 2, clock: clock + 1 }],
    });
    expect(await relationOf(reader, [[relation, clock + 99]])).toMatchObject({ whole: true });
    expect(await members(reader, [[relation, clock + 99]])).toHaveLength(2);
  });

  test('EN-32 EN-36 a change that is not confirmed keeps its place when the member changes again', async () => {
    const { app, base, relation } = await related(2);
    const [reader] = app as [StagedUnit];
    const [one, other] = base as [StagedUnit, StagedUnit];
    for (const remote of [one, other]) {
      const changed = { hook: 'db-relation-changed', relationId: relation, remote, version: 1 };
      await stage.end(reader, await stage.begin(reader, changed));
    }
    const clock = await stage.clock(relation);
    for (const [n, unit] of [one, other, one].entries()) await stage.set(unit, relation, { n: `${n}` });
    const found = await relationOf(reader);
    expect(found?.members).toEqual([
      { unit: other.name, version: 2, clock: clock + 2, since: clock + 2 },
      { unit: one.name, version: 3, clock: clock + 3, since: clock + 1 },
    ]);
    const members = { [one.name]: 1, [other.name]: 1 };
    const record = {
      ...newUnitRecord(),
      ...{ formula: '1', configured: { settings: 1, formula: '1', boot: null }, started: { boot: null } },
      relations: { [relation]: { name: 'db', members, broken: false } },
    };
    const goal = { goal: 'alive' as const, settingsVersion: 1, formula: { version: '1', hooks: [] } };
    const due = hooksDue({ ...goal, relations: found === undefined ? [] : [found] }, record);
    expect(due.map(({ remoteUnit }) => remoteUnit)).toEqual([one.name, other.name]);
  });

  test('a unit that leaves is listed as left, and is no longer a member', async () => {
    const { app, base, relation } = await related(2);
    const [reader] = app as [StagedUnit];
    const clock = await stage.clock(relation);
    await stage.set(base[0] as StagedUnit, relation, { host: '"a"' });
    await stage.leave(base[0] as StagedUnit);
    expect(await members(reader, [[relation, clock]])).toEqual([{ unit: base[0]?.name, left: true }]);
    expect(await members(reader)).toEqual([{ unit: base[1]?.name, version: 1 }]);
    expect((await stage.read(reader, relation, base[0]?.name ?? '')).settings).toEqual({ host: '"a"' });
    expect(await relationOf(base[0] as StagedUnit)).toMatchObject({ life: 'alive', members: [] });
    await stage.leave(base[0] as StagedUnit);
    expect(await stage.clock(relation)).toBe(clock + 2);
  });

  test('a leaving unit enters nothing', async () => {
    const { appId } = await related();
    const late = await stage.unit(appId, { started: false });
    await stage.leave(late);
    await stage.start(late);
    expect(await relationOf(late)).toBeUndefined();
  });

  test('peers are the other units of the service; peer relations follow the formula', async () => {
    const serviceId = await stage.service('ring', { peers: { ring: { interface: 'chain' } } });
    const [one, other] = await stage.units(serviceId, 2);
    const set = (peers: Record<string, { interface: string; limit: null; optional: boolean }>) =>
      stage.ctx.db.transaction((tx) =>
        setPeerRelations(tx, stage.ctx, { id: serviceId, modelId: stage.modelId }, { peers }),
      );
    const ring = { ring: { interface: 'chain', limit: null, optional: false } };
    await set(ring);
    await set(ring);
    expect((await relationsOf(stage.ctx.db, [one?.id ?? ''], new Map())).get(one?.id ?? '')).toHaveLength(1);
    expect(await members(one as StagedUnit)).toEqual([{ unit: other?.name, version: 1 }]);
    await set({});
    expect(await relationOf(one as StagedUnit)).toMatchObject({ life: 'dying', members: [] });
  });
});

describe('hooks that count as done', () => {
  const seen = async (relation: number) =>
    (
      await stage.ctx.db.execute<{ version: number | null }>(
        sql`select version from relation_seen where relation_id = ${relation} order by version`,
      )
    ).rows.map(({ version }) => version);
  const confirm = (
    unit: StagedUnit,
    hooks: { kind: string; relationId: number; remote?: string; version?: number }[],
  ) =>
    stage.ctx.db.transaction((tx) =>
      confirmRelationHooks(
        tx,
        stage.ctx,
        unit.id,
        hooks.map(({ kind, relationId, remote = null, version = null }) => ({
          ...{ hook: `db-relation-${kind}`, relationId, remoteUnit: remote, version },
        })),
      ),
    );

  test('EN-44 a joined and a changed hook without a file confirm the version, and departed forgets it', async () => {
    const { app, base, relation } = await related();
    const [unit] = app as [StagedUnit];
    const remote = base[0]?.name ?? '';
    await confirm(unit, [{ kind: 'joined', relationId: relation, remote, version: 1 }]);
    expect(await seen(relation)).toEqual([null]);
    await confirm(unit, [
      { kind: 'joined', relationId: relation, remote, version: 1 },
      { kind: 'changed', relationId: relation, remote, version: 1 },
    ]);
    expect(await seen(relation)).toEqual([1]);
    await confirm(unit, [{ kind: 'departed', relationId: relation, remote }]);
    expect(await seen(relation)).toEqual([]);
  });

  test('a relation or a unit in which the unit does not take part is left out', async () => {
    const { app, relation } = await related();
    const { relation: foreign, base } = await related();
    const remote = base[0]?.name ?? '';
    await confirm(app[0] as StagedUnit, [
      { kind: 'joined', relationId: foreign, remote },
      { kind: 'joined', relationId: relation, remote },
      { kind: 'joined', relationId: relation, remote: 'nothing/7' },
    ]);
    expect([...(await seen(relation)), ...(await seen(foreign))]).toEqual([]);
  });

  test('a dying relation ends when all participants are done with it, and its services are returned', async () => {
    const { app, base, relation, appId, baseId } = await related();
    const ended = await stage.ctx.db.transaction((tx) => endRelationsOf(tx, stage.ctx, appId));
    expect(ended).toEqual({ endedServices: [] });
    expect(await confirm(app[0] as StagedUnit, [{ kind: 'broken', relationId: relation }])).toEqual({
      endedServices: [],
    });
    expect(await relationOf(app[0] as StagedUnit)).toBeUndefined();
    expect(await confirm(base[0] as StagedUnit, [{ kind: 'broken', relationId: relation }])).toEqual({
      endedServices: [appId, baseId].sort(),
    });
  });

  test('a dying relation without participants ends with the call', async () => {
    const appId = await stage.service('idle', { requires: { db: { interface: 'store' } } });
    const baseId = await stage.service('idlebase', { provides: { store: { interface: 'store' } } });
    await stage.relate('idle', 'idlebase');
    expect(await stage.ctx.db.transaction((tx) => endRelationsOf(tx, stage.ctx, appId))).toEqual({
      endedServices: [appId, baseId].sort(),
    });
  });

  test('EN-53 a unit that is removed departs in the same transaction, even if it had not left', async () => {
    const { app, base, relation } = await related();
    const clock = await stage.clock(relation);
    await stage.ctx.db.transaction(async (tx) => {
      await tx.execute(sql`update units set life = 'dying', removed_at = now() where id = ${base[0]?.id}`);
      await forgetParticipants(tx, stage.ctx, [base[0]?.id ?? '']);
    });
    expect(await members(app[0] as StagedUnit, [[relation, clock]])).toEqual([{ unit: base[0]?.name, left: true }]);
    expect(await relationOf(base[0] as StagedUnit)).toBeUndefined();
  });
});

describe('what PostgreSQL reads of a relation', () => {
  const rowsRead = (unit: StagedUnit, after: [number, number][]) =>
    stage.ctx.db.transaction(async (tx) => {
      // Without statistics, PostgreSQL would prefer to read the small tables of a test from start to end.
      await tx.execute(sql`set local enable_seqscan = off`);
      const count = async () => {
        const { rows } = await tx.execute<{ count: string }>(sql`
          select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as count from pg_stat_xact_user_tables
           where relname in ('units', 'relation_units', 'relation_log', 'relation_seen')`);
        return Number(rows[0]?.count);
      };
      const before = await count();
      const [relation] = (await relationsOf(tx, [unit.id], new Map(after))).get(unit.id) ?? [];
      return { rows: (await count()) - before, members: relation?.members.length };
    });

  test.each([
    ['the member that changed, but no other', 'app'],
    ['the members on the other side, but no unit on the same side', 'base'],
  ] as const)('%s', async (_, many) => {
    const cost = async (participants: number) => {
      const { app, base, appId, baseId, relation } = await related();
      const [reader, writer] = [app[0], base[0]] as [StagedUnit, StagedUnit];
      const others = await stage.units(many === 'app' ? baseId : appId, participants, { started: false });
      await stage.enter(others, relation);
      const held = await stage.clock(relation);
      await stage.end(writer, await stage.begin(writer), {
        changes: [{ relation, set: { host: '"a"' }, remove: [] }],
      });
      return rowsRead(reader, many === 'app' ? [[relation, held]] : []);
    };
    const two = await cost(2);
    expect(two).toEqual({ members: 1, rows: expect.any(Number) });
    expect(two.rows).toBeGreaterThan(1);
    expect(await cost(200)).toEqual(two);
  });
});

import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { readActs } from '#server/testing/acts.ts';
import { listSeen } from './list-seen.ts';
import { relationsOf } from './members.ts';
import { getRelationSettings, listNodes, revealNode } from './node-view.ts';
import { getRelation, listRelations } from './relation-view.ts';
import { setPeerRelations } from './service-relations.ts';
import { RelationStage, type StagedUnit } from './testing/relation-stage.ts';

let stage: RelationStage;
let relation: number;
let readers: StagedUnit[];
let base: StagedUnit;
let baseId: string;
const at = { model: 'prod', number: 1 };
beforeAll(async () => {
  stage = await RelationStage.open();
  const appId = await stage.service('app', { requires: { db: { interface: 'store' } } }, ['dsn']);
  baseId = await stage.service('base', { provides: { db: { interface: 'store' } } }, ['salt']);
  relation = await stage.relate('app', 'base');
  readers = await stage.units(appId, 5);
  base = await stage.unit(baseId);
});

const confirm = async (unit: StagedUnit, remote: StagedUnit, version: number) => {
  const about = { hook: 'db-relation-changed', relationId: relation, remote, version };
  await stage.end(unit, await stage.begin(unit, about));
};
const fails = (unit: StagedUnit, isFailing: boolean) =>
  stage.ctx.db.execute(sql`
    update units set failing = case when ${isFailing} then jsonb_build_object(${String(relation)}::text, '{}'::jsonb)
      else '{}' end where id = ${unit.id}`);
const health = (unit: StagedUnit, is: string) =>
  stage.ctx.db.execute(sql`
    insert into vm_health (vm_id, name, tags, health, rank, agent, since)
    values (${unit.vmId}, ${unit.name}, '{}', ${is}, 1, 'seen', now())
    on conflict (vm_id) do update set health = excluded.health`);
const readersOf = async (unit: StagedUnit) =>
  (await listSeen(await stage.as('viewer'), { ...at, unit: unit.name })).readers;

describe('who has confirmed the settings of a unit', () => {
  test('EN-73 each unit of the other side is listed with its reason, and no unit of the same side', async () => {
    const [confirmed, running, failing, silent, waiting] = readers as [
      ...[StagedUnit, StagedUnit, StagedUnit, StagedUnit, StagedUnit],
    ];
    await stage.unit(baseId);
    await confirm(confirmed, base, 1);
    await stage.begin(running, { hook: 'db-relation-joined', relationId: relation, remote: base });
    await stage.begin(waiting, { hook: 'config-changed' });
    await fails(failing, true);
    await health(silent, 'unresponsive');
    expect((await readersOf(base)).map(({ unit, why }) => [unit, why])).toEqual([
      ['app/0', null],
      ['app/1', 'running'],
      ['app/2', 'failing'],
      ['app/3', 'silent'],
      ['app/4', 'waiting'],
    ]);
    await fails(failing, false);
    await health(silent, 'healthy');
    expect((await readersOf(base)).map(({ why }) => why)).toEqual([null, 'running', 'waiting', 'waiting', 'waiting']);
  });

  test('EN-73 a reader that confirmed an earlier version keeps it, with the time, until it confirms the next', async () => {
    const [reader] = readers as [StagedUnit];
    await stage.set(base, relation, { host: '"a"' });
    const [behind] = await readersOf(base);
    expect(behind).toEqual({
      ...{ unit: 'app/0', version: 1, at: stage.ctx.now.toISOString(), confirmed: false, why: 'waiting' },
    });
    await fails(reader, true);
    await confirm(reader, base, 2);
    expect((await readersOf(base))[0], 'a confirmed version needs no reason').toMatchObject({ version: 2, why: null });
    await fails(reader, false);
  });

  test('a unit that left neither reads nor is read', async () => {
    const leaving = await stage.unit(baseId);
    expect((await readersOf(readers[0] as StagedUnit)).map(({ unit }) => unit)).toContain(leaving.name);
    await stage.leave(leaving);
    expect((await readersOf(readers[0] as StagedUnit)).map(({ unit }) => unit)).not.toContain(leaving.name);
    await expect(readersOf(leaving)).rejects.toMatchObject({ kind: 'not_found', code: 'node_unknown' });
  });

  test('peers read each other', async () => {
    const ringId = await stage.service('ring', { peers: { ring: { interface: 'chain' } } });
    const peers = { ring: { interface: 'chain', limit: null, optional: false } };
    const service = { id: ringId, modelId: stage.modelId };
    await stage.ctx.db.transaction((tx) => setPeerRelations(tx, stage.ctx, service, { peers }));
    await stage.units(ringId, 3);
    const number = (await listRelations(stage.ctx, at)).items.find((one) => one.interface === 'chain')?.number ?? 0;
    const { readers: found } = await listSeen(stage.ctx, { model: 'prod', number, unit: 'ring/1' });
    expect(found.map(({ unit }) => unit)).toEqual(['ring/0', 'ring/2']);
    const shown = await getRelation(stage.ctx, { model: 'prod', number });
    expect(shown.endpoints).toEqual([{ side: 'peer', service: 'ring', name: 'ring' }]);
    expect(shown).toMatchObject({ units: 3, behind: 3, state: 'behind' });
  });
});

describe('the counts of a relation', () => {
  test('each unit counts once, whatever the number of members that it has not confirmed', async () => {
    const before = await getRelation(stage.ctx, at);
    expect(before).toMatchObject({ units: 7, state: 'behind' });
    const bases = await stage.units(baseId, 2);
    const after = await getRelation(stage.ctx, at);
    expect(after).toMatchObject({ units: 9, behind: 9 });
    for (const unit of bases) await stage.leave(unit);
    expect(await getRelation(stage.ctx, at)).toMatchObject({ units: 7, behind: before.behind });
  });

  test('a version that is confirmed also confirms the earlier ones that are shown', async () => {
    const [reader] = readers as [StagedUnit];
    const confirmedBy = async (clock?: number) => {
      const { nodes } = await listNodes(stage.ctx, { ...at, at: clock?.toString() });
      return nodes.find(({ unit }) => unit === base.name)?.confirmedBy;
    };
    const clock = await stage.clock(relation);
    await stage.set(base, relation, { host: '"b"' });
    expect(await confirmedBy()).toBe(0);
    await confirm(reader, base, 3);
    expect([await confirmedBy(), await confirmedBy(clock)]).toEqual([1, 1]);
  });
});

describe('masked keys', () => {
  const shown = async (role: 'operator' | 'admin' = 'operator') => {
    const { nodes } = await getRelationSettings(await stage.as(role), at);
    const settings = nodes.find(({ unit }) => unit === base.name)?.settings ?? [];
    return Object.fromEntries(settings.map(({ key, masked, value }) => [key, masked ? value : 'open']));
  };

  test('EN-65 the formulas of both sides mask keys, and so do names that look like secrets', async () => {
    await stage.set(base, relation, { dsn: '"x"', salt: '"y"', API_TOKEN: '"z"', privateKey: '"k"', port: '3306' });
    const masked = { dsn: null, salt: null, API_TOKEN: null, privateKey: null };
    const expected = { ...masked, host: 'open', port: 'open' };
    expect(await shown()).toEqual(expected);
    expect(await shown('admin'), 'an admin has to reveal them too').toEqual(expected);
  });

  test('EN-65 a reveal of the past has the values of that time, and the activity its version', async () => {
    const clock = await stage.clock(relation);
    await stage.set(base, relation, { salt: '"new"' }, ['dsn']);
    const past = await revealNode(stage.ctx, { ...at, unit: base.name, at: String(clock) });
    const values = Object.fromEntries(past.settings.map(({ key, value }) => [key, value]));
    expect([past.clock, values]).toMatchObject([clock, { salt: '"y"', dsn: '"x"' }]);
    const [entry] = (await readActs(stage.ctx.db)).slice(-1);
    expect(entry).toMatchObject({
      ...{ action: 'node.reveal', targetId: 'prod', actorName: stage.ctx.actor.name },
      details: { version: past.version, keys: ['API_TOKEN', 'dsn', 'privateKey', 'salt'] },
    });
    expect(JSON.stringify(entry)).not.toContain('"x');
  });

  test('EN-65 a reveal that is rejected leaves no entry, and an entry names at most 50 keys', async () => {
    const entries = async () => (await readActs(stage.ctx.db)).length;
    const before = await entries();
    await expect(revealNode(await stage.as('viewer'), { ...at, unit: base.name })).rejects.toThrow();
    await expect(revealNode(stage.ctx, { ...at, unit: 'base/70' })).rejects.toMatchObject({ code: 'node_unknown' });
    await expect(revealNode(stage.ctx, { ...at, unit: base.name, at: '9999' })).rejects.toThrow();
    expect(await entries()).toBe(before);
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`token${n}`, '1']));
    await stage.set(base, relation, many);
    await revealNode(stage.ctx, { ...at, unit: base.name });
    const [entry] = (await readActs(stage.ctx.db)).slice(-1);
    expect(entry?.details).toMatchObject({ keys: { length: 50 } });
    await stage.set(base, relation, {}, Object.keys(many));
  });

  test('a relation whose nodes do not fit into a response says how many are left out', async () => {
    const keys = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`${n}${'k'.repeat(60)}`, '1']));
    const [first] = readers as [StagedUnit];
    await stage.set(first, relation, keys);
    const more = await stage.units(baseId, 60, { started: false });
    await stage.enter(more, relation);
    // Keys are listed without opening the values.
    await stage.ctx.db.execute(sql`
      update relation_units set settings = f.settings
        from (select settings from relation_units where relation_id = ${relation} and unit_id = ${first.id}) f
       where relation_id = ${relation}`);
    const { nodes, leftOut } = await listNodes(stage.ctx, at);
    expect(nodes.length).toBeGreaterThan(10);
    expect(nodes.length + (leftOut?.nodes ?? 0)).toBe(67);
    expect(Buffer.byteLength(JSON.stringify(nodes))).toBeLessThanOrEqual(4 * 1024 * 1024);
    const found = await relationsOf(stage.ctx.db, [base.id], new Map());
    expect(found.get(base.id)?.[0]?.members, 'agents learn of all members').toHaveLength(65);
  });
});

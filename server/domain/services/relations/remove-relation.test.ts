import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { readActs } from '#server/testing/acts.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { addRelation } from './add-relation.ts';
import { listRelationEvents } from './list-events.ts';
import { relationsOf } from './members.ts';
import { confirmRelationHooks, enterRelations, forgetParticipants } from './participants.ts';
import { raiseHeads } from './raise-heads.ts';
import { getRelation, listRelations } from './relation-view.ts';
import { removeRelation } from './remove-relation.ts';
import { dismissRelations, setPeerRelations } from './service-relations.ts';
import { RelationStage, type StagedUnit } from './testing/relation-stage.ts';
import { tellUnits, unitsChannel } from './wake.ts';

let stage: RelationStage;
const model = 'prod';
beforeAll(async () => {
  stage = await RelationStage.open();
});

let count = 0;
/** Relates two services with one started unit each. */
async function related() {
  const letter = 'abcdefghijklmnopqrst'[count++];
  const [appName, baseName] = [`app${letter}`, `base${letter}`];
  const appId = await stage.service(appName, { requires: { db: { interface: `store${letter}` } } });
  const baseId = await stage.service(baseName, { provides: { db: { interface: `store${letter}` } } });
  const { id, number } = await addRelation(stage.ctx, { model, endpoints: [appName, baseName] });
  const [app, base] = [await stage.unit(appId), await stage.unit(baseId)];
  return { id, number, app, base, appId, baseId, appName, baseName };
}

const revision = async ({ vmId }: StagedUnit) => {
  const { rows } = await stage.ctx.db.execute<{ revision: string }>(
    sql`select revision from unit_heads where vm_id = ${vmId}`,
  );
  return Number(rows[0]?.revision ?? 0);
};
const seenRows = async (relation: number) => {
  const { rows } = await stage.ctx.db.execute(sql`select from relation_seen where relation_id = ${relation}`);
  return rows.length;
};
const entries = () => readActs(stage.ctx.db);
const runs = async (unit: StagedUnit, event: string, relationId: number, remote?: StagedUnit, version?: number) =>
  stage.end(
    unit,
    await stage.begin(unit, {
      ...{ hook: `db-relation-${event}`, relationId },
      ...(remote && { remote }),
      ...(version !== undefined && { version }),
    }),
  );
const relationOf = async (unit: StagedUnit, after: [number, number][] = []) =>
  (await relationsOf(stage.ctx.db, [unit.id], new Map(after))).get(unit.id)?.[0];

/** Collects the wake-ups about units while `act` runs, and those of one more relation, which come last. */
async function heardDuring(act: () => Promise<unknown>): Promise<string[]> {
  const heard: string[] = [];
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  const listening = stage.ctx.wakes.listen([unitsChannel], {
    heard: (_, payload) => void heard.push(payload),
    lost: () => {},
    back: resolve,
  });
  await ready;
  await act();
  await stage.ctx.db.transaction((tx) => tellUnits(tx, { relations: [987_654] }));
  await expect.poll(() => heard, { timeout: 15_000 }).toContain('r987654');
  await listening.close();
  return heard.filter((payload) => payload !== 'r987654').sort();
}

describe('removing a relation', () => {
  test('EN-52 its units learn that it ends and has no members, and the activity has the act', async () => {
    const { id, number, app, base, appName, baseName } = await related();
    const before = await Promise.all([app, base].map(revision));
    const heard = await heardDuring(() => removeRelation(stage.ctx, { model, number }));
    expect(heard).toEqual([`v${app.vmId}`, `v${base.vmId}`].sort());
    expect(await Promise.all([app, base].map(revision))).toEqual(before.map((one) => one + 1));
    expect(await relationOf(app)).toMatchObject({ id, life: 'dying', members: [] });
    const [entry] = (await entries()).slice(-1);
    expect(entry).toMatchObject({
      ...{ action: 'relation.remove', targetId: model, actorName: stage.ctx.actor.name },
      details: { endpoints: `${appName}:db ${baseName}:db`, number },
    });
  });

  test('a second call changes nothing: no entry, no other revision, and the time of the first', async () => {
    const { number, app } = await related();
    await removeRelation(stage.ctx, { model, number });
    const [all, head] = [(await entries()).length, await revision(app)];
    const later = { ...stage.ctx, now: new Date(stage.ctx.now.getTime() + 60_000) };
    const again = await removeRelation(later, { model, number });
    expect(again).toMatchObject({ state: 'ending', endingSince: stage.ctx.now.toISOString(), endedAt: null });
    expect([(await entries()).length, await revision(app)]).toEqual([all, head]);
  });

  test('a viewer, another revision and a relation of another model are rejected, and the relation stays', async () => {
    const { number } = await related();
    await expect(removeRelation(await stage.as('viewer'), { model, number })).rejects.toMatchObject({
      kind: 'forbidden',
    });
    await expect(removeRelation(stage.ctx, { model, number, ifMatch: 0 })).rejects.toMatchObject({
      kind: 'precondition_failed',
    });
    await expect(removeRelation(stage.ctx, { model: 'none', number })).rejects.toMatchObject({ code: 'model_unknown' });
    for (const bad of [0, -1, 1.5, 2 ** 31]) {
      await expect(removeRelation(stage.ctx, { model, number: bad })).rejects.toMatchObject({ code: 'invalid' });
    }
    expect((await getRelation(stage.ctx, { model, number })).life).toBe('alive');
  });

  test('EN-52 units are done one after the other, and the last one ends the relation', async () => {
    const { id, number, app, base } = await related();
    await runs(app, 'changed', id, base, 1);
    await runs(base, 'changed', id, app, 1);
    await removeRelation(stage.ctx, { model, number });
    await runs(app, 'broken', id);
    expect(await getRelation(stage.ctx, { model, number })).toMatchObject({ state: 'ending', units: 1 });
    expect(await relationOf(app), 'the first unit is done').toBeUndefined();
    expect(await relationOf(base)).toMatchObject({ life: 'dying', members: [] });
    await expect(stage.read(app, id, base.name)).rejects.toMatchObject({ code: 'node_unknown' });
    expect((await stage.read(base, id, app.name)).version).toBe(1);
    await runs(base, 'broken', id);
    expect(await getRelation(stage.ctx, { model, number })).toMatchObject({
      ...{ state: 'ended', units: 0, behind: 0, endedAt: stage.ctx.now.toISOString() },
    });
    expect(await seenRows(id), 'what was confirmed is deleted with it').toBe(0);
  });

  test('a unit that breaks twice takes one value of the clock, and a failed hook none', async () => {
    const { id, number, app } = await related();
    await removeRelation(stage.ctx, { model, number });
    const clock = await stage.clock(id);
    await stage.end(app, await stage.begin(app, { hook: 'db-relation-broken', relationId: id }), { outcome: 'failed' });
    expect(await stage.clock(id)).toBe(clock);
    await runs(app, 'broken', id);
    await runs(app, 'broken', id);
    const { items } = await listRelationEvents(stage.ctx, { model, number, limit: 2 });
    expect(items.map(({ kind, unit, run }) => [kind, unit, run?.hook])).toEqual([
      ['broken', app.name, 'db-relation-broken'],
      ['joined', expect.stringMatching(/^base/), undefined],
    ]);
  });

  test('an endpoint is free again when its relation has ended, not before', async () => {
    const { id, number, app, base, appName } = await related();
    const letter = appName.at(-1);
    await stage.service(`other${letter}`, { provides: { db: { interface: `store${letter}` } } });
    const add = () => addRelation(stage.ctx, { model, endpoints: [appName, `other${letter}`] });
    await expect(add()).rejects.toMatchObject({
      code: 'relation_limit',
      params: { endpoint: `${appName}:db`, limit: 1 },
    });
    await removeRelation(stage.ctx, { model, number });
    await expect(add()).rejects.toMatchObject({ code: 'relation_limit' });
    for (const unit of [app, base]) await runs(unit, 'broken', id);
    expect(await add()).toMatchObject({ life: 'alive', units: 1 });
  });

  test('a relation of peers cannot be removed separately', async () => {
    const serviceId = await stage.service('ring', { peers: { ring: { interface: 'chain' } } });
    const peers = { ring: { interface: 'chain', limit: null, optional: false } };
    const set = (given: typeof peers | Record<string, never>) =>
      stage.ctx.db.transaction((tx) =>
        setPeerRelations(tx, stage.ctx, { id: serviceId, modelId: stage.modelId }, { peers: given }),
      );
    await set(peers);
    const rings = async () =>
      (await listRelations(stage.ctx, { model })).items.filter(({ endpoints }) => endpoints[0]?.service === 'ring');
    const [ring] = await rings();
    await expect(removeRelation(stage.ctx, { model, number: ring?.number ?? 0 })).rejects.toMatchObject({
      ...{ kind: 'conflict', code: 'relation_is_peer' },
    });
    await set({ ring: { ...peers.ring, interface: 'other' } });
    expect(await rings(), 'another interface replaces it').toMatchObject([{ interface: 'other', life: 'alive' }]);
  });
});

describe('units that leave or are removed', () => {
  test('a departure is due at a unit that knew the member, until it is confirmed, and at no other', async () => {
    const { id, app, base, appId } = await related();
    const stranger = await stage.unit(appId);
    await runs(app, 'joined', id, base);
    await stage.leave(base);
    const left = [{ unit: base.name, left: true, clock: await stage.clock(id) }];
    expect((await relationOf(app))?.members).toEqual(left);
    expect((await relationOf(stranger))?.members).toEqual([]);
    await stage.ctx.db.transaction((tx) => forgetParticipants(tx, stage.ctx, [base.id]));
    expect((await relationOf(app))?.members, 'also after the unit is gone').toEqual(left);
    await runs(app, 'departed', id, base);
    expect((await relationOf(app))?.members).toEqual([]);
  });

  test('EN-53 the last unit of a relation that ends, removed without its agent, ends it', async () => {
    const { id, number, app, base, appId, baseId } = await related();
    await removeRelation(stage.ctx, { model, number });
    await runs(app, 'broken', id);
    const ended = await stage.ctx.db.transaction((tx) => forgetParticipants(tx, stage.ctx, [base.id]));
    expect(ended).toEqual({ endedServices: [appId, baseId].sort() });
    expect((await getRelation(stage.ctx, { model, number })).state).toBe('ended');
  });

  test('a relation that is alive stays without units, and the next unit enters it', async () => {
    const { number, app, base, appId } = await related();
    const gone = await stage.ctx.db.transaction((tx) => forgetParticipants(tx, stage.ctx, [app.id, base.id]));
    expect(gone).toEqual({ endedServices: [] });
    expect(await getRelation(stage.ctx, { model, number })).toMatchObject({ state: 'settled', units: 0 });
    await stage.unit(appId);
    expect(await getRelation(stage.ctx, { model, number })).toMatchObject({ life: 'alive', units: 1 });
  });

  test('units that leave together take one value of the clock each for their departure and their end', async () => {
    const { id, number, app, base, appId } = await related();
    const other = await stage.unit(appId);
    const clock = await stage.clock(id);
    const ids = [app, other, base].map((unit) => unit.id);
    const heard = await heardDuring(() => stage.ctx.db.transaction((tx) => forgetParticipants(tx, stage.ctx, ids)));
    expect(heard).toContain(`r${id}`);
    const { items } = await listRelationEvents(stage.ctx, { model, number });
    expect(await stage.clock(id)).toBe(clock + 6);
    expect(items.slice(0, 6).map(({ kind }) => kind)).toEqual(['broken', 'broken', 'broken', 'left', 'left', 'left']);
  });

  test('hooks without a run confirm a departure and the end of a relation', async () => {
    const { id, number, app, base } = await related();
    await runs(app, 'changed', id, base, 1);
    await removeRelation(stage.ctx, { model, number });
    const done = (event: string, remoteUnit: string | null) => ({
      ...{ hook: `db-relation-${event}`, relationId: id, remoteUnit, version: null },
    });
    const hooks = [done('departed', base.name), done('broken', null)];
    await stage.ctx.db.transaction((tx) => confirmRelationHooks(tx, stage.ctx, app.id, hooks));
    expect([await seenRows(id), await relationOf(app)]).toEqual([0, undefined]);
    const { items } = await listRelationEvents(stage.ctx, { model, number, limit: 1 });
    expect(items).toMatchObject([{ kind: 'broken', unit: app.name, run: null }]);
  });

  test('without units or relations, no statement runs', async () => {
    const statements = await statementsOf(() =>
      stage.ctx.db.transaction(async (tx) => {
        await forgetParticipants(tx, stage.ctx, []);
        await dismissRelations(tx, stage.ctx, []);
        await raiseHeads(tx, stage.ctx, []);
        await confirmRelationHooks(tx, stage.ctx, stage.modelId, []);
        expect(await relationsOf(tx, [], new Map())).toEqual(new Map());
      }),
    );
    expect(statements).toEqual([]);
  });
});

describe('units that start', () => {
  test('EN-34 the event of a unit that enters names its run, and its VM is woken', async () => {
    const { id, number, appId } = await related();
    const unit = await stage.unit(appId, { started: false });
    const run = await stage.begin(unit, { hook: 'start' });
    const heard = await heardDuring(() =>
      stage.ctx.db.transaction((tx) => enterRelations(tx, stage.ctx, unit.id, { vmId: unit.vmId, id: run })),
    );
    expect(heard).toEqual([`r${id}`, `v${unit.vmId}`]);
    const { items } = await listRelationEvents(stage.ctx, { model, number, limit: 1 });
    expect(items).toMatchObject([
      { kind: 'joined', unit: unit.name, run: { id: run, hook: 'start', vmId: unit.vmId } },
    ]);
  });

  test('EN-34 a unit that starts while its service is being related enters once, whichever is first', async () => {
    const appId = await stage.service('racer', { requires: { db: { interface: 'race' } } });
    await stage.service('track', { provides: { db: { interface: 'race' } } });
    const units = await stage.units(appId, 3, { started: false });
    const [relation] = await Promise.all([
      addRelation(stage.ctx, { model, endpoints: ['racer', 'track'] }),
      ...units.map((unit) => stage.start(unit)),
    ]);
    expect(await getRelation(stage.ctx, { model, number: relation.number })).toMatchObject({ units: 3, clock: 3 });
  });

  test('a unit enters all relations of its service, but none that ends', async () => {
    const { number, app, appId, appName } = await related();
    const peers = { mesh: { interface: 'mesh', limit: null, optional: false } };
    await stage.ctx.db.transaction((tx) =>
      setPeerRelations(tx, stage.ctx, { id: appId, modelId: stage.modelId }, { peers }),
    );
    await removeRelation(stage.ctx, { model, number });
    const late = await stage.unit(appId);
    const entered = (await relationsOf(stage.ctx.db, [late.id, app.id], new Map())).get(late.id);
    expect(entered?.map(({ interface: spoken, members }) => [spoken, members.map(({ unit }) => unit)])).toEqual([
      ['mesh', [`${appName}/0`]],
    ]);
  });
});

describe('wake-ups', () => {
  test('EN-71 a VM that is named several times is raised and woken once', async () => {
    const { app, base } = await related();
    const before = await Promise.all([app, base].map(revision));
    const vmIds = [base.vmId, app.vmId, base.vmId];
    const heard = await heardDuring(() => stage.ctx.db.transaction((tx) => raiseHeads(tx, stage.ctx, vmIds)));
    expect(heard).toEqual([`v${app.vmId}`, `v${base.vmId}`].sort());
    expect(await Promise.all([app, base].map(revision))).toEqual(before.map((one) => one + 1));
  });

  test('EN-71 a transaction that is rolled back wakes no poll', async () => {
    const { id, app } = await related();
    const before = await revision(app);
    const heard = await heardDuring(async () => {
      const failed = stage.ctx.db.transaction(async (tx) => {
        await dismissRelations(tx, stage.ctx, [id]);
        throw new Error('rolled back');
      });
      await expect(failed).rejects.toThrow('rolled back');
    });
    expect([heard, await revision(app)]).toEqual([[], before]);
  });
});

describe('limits of relations', () => {
  /** Stores relations of a service, as if they had been added. */
  const fill = (serviceId: string, from: number, to: number) =>
    stage.ctx.db.execute(sql`
      with added as (
        insert into relations (model_id, number, interface, life, moved_at, created_at, created_by)
        select ${stage.modelId}, 100000 + n, 'full', 'alive', now(), now(), 'test' from generate_series(${from}::int, ${to}::int) n
        returning id)
      insert into relation_endpoints (relation_id, side, service_id, name)
      select id, 'provides', ${serviceId}, 'db' from added`);

  test('a service has at most 64 relations, and a model 2,000', async () => {
    const hub = await stage.service('hub', { provides: { db: { interface: 'full' } } });
    for (const name of ['one', 'two']) await stage.service(name, { requires: { db: { interface: 'full' } } });
    const add = (name: string, to = 'hub') => addRelation(stage.ctx, { model, endpoints: [name, to] });
    await fill(hub, 1, 63);
    expect(await add('one')).toMatchObject({ state: 'settled' });
    await expect(add('two')).rejects.toMatchObject({ code: 'relations_too_many', params: { limit: 64 } });
    await stage.service('spare', { provides: { db: { interface: 'full' } } });
    await fill(hub, 65, 2_000);
    await expect(add('two', 'spare')).rejects.toMatchObject({ code: 'relations_too_many', params: { limit: 2_000 } });
    await stage.ctx.db.execute(sql`update relations set removed_at = now(), life = 'dying' where interface = 'full'`);
    expect(await add('two', 'spare'), 'there is room after relations ended').toMatchObject({ life: 'alive' });
  });
});

import { randomBytes } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { deriveKeys } from '#server/platform/keys.ts';
import { clearRelationEvents } from './clear-events.ts';
import { listRelationEvents } from './list-events.ts';
import { getRelationSettings, listNodes } from './node-view.ts';
import { getRelation } from './relation-view.ts';
import { resealRelations } from './reseal-relations.ts';
import { RelationStage } from './testing/relation-stage.ts';

let stage: RelationStage;
const dayMs = 24 * 60 * 60_000;
beforeAll(async () => {
  stage = await RelationStage.open();
});

let count = 0;
/** Relates two services of which each has one started unit, so that the clock is 2. */
async function related() {
  const letter = 'abcdefghijklmnop'[count++];
  const [reads, writes, spoken] = [`reads${letter}`, `writes${letter}`, `past${letter}`];
  const readerId = await stage.service(reads, { requires: { db: { interface: spoken } } });
  const writerId = await stage.service(writes, { provides: { db: { interface: spoken } } });
  const id = await stage.relate(reads, writes);
  const [reader, writer] = [await stage.unit(readerId), await stage.unit(writerId)];
  const { number } = (
    await stage.ctx.db.execute<{ number: number }>(sql`select number from relations where id = ${id}`)
  ).rows[0] as { number: number };
  const at = { model: 'prod', number };
  return { id, at, reader, writer, readerId, writerId };
}

/** Dates the events of a relation: this many days before now, by clock from 1. */
async function date(relation: number, days: readonly number[]): Promise<void> {
  for (const [index, ago] of days.entries()) {
    const time = daysAgo(ago);
    await stage.ctx.db.execute(sql`
      update relation_log set at = ${time}::timestamptz where relation_id = ${relation} and clock = ${index + 1}`);
  }
}
const daysAgo = (days: number) => new Date(stage.ctx.now.getTime() - days * dayMs).toISOString();

const settingsAt = async (of: { model: string; number: number }, at?: string) => {
  const { clock, nodes } = await getRelationSettings(stage.ctx, { ...of, at });
  const values = nodes.map(({ unit, version, settings }) => [
    ...[unit, version],
    Object.fromEntries(settings.map(({ key, value }) => [key, value])),
  ]);
  return { clock, values };
};

describe('settings at a time', () => {
  test('EN-74 a time between two events, the time of an event and another time zone give the state then', async () => {
    const { id, at, reader, writer } = await related();
    await stage.set(writer, id, { host: '"one"' });
    await stage.set(writer, id, { host: '"two"' }, []);
    await date(id, [9, 8, 7, 6]);
    const [none, one, two] = [{}, { host: '"one"' }, { host: '"two"' }].map((set, index) => [
      ...[writer.name, index + 1],
      set,
    ]);
    const own = [reader.name, 1, {}];
    expect(await settingsAt(at, daysAgo(10))).toEqual({ clock: 0, values: [] });
    expect(await settingsAt(at, daysAgo(9))).toEqual({ clock: 1, values: [own] });
    expect(await settingsAt(at, daysAgo(7.5))).toEqual({ clock: 2, values: [own, none] });
    expect(await settingsAt(at, daysAgo(7))).toEqual({ clock: 3, values: [own, one] });
    expect(await settingsAt(at, daysAgo(0))).toEqual({ clock: 4, values: [own, two] });
    const local = new Date(Date.parse(daysAgo(6.5)) + 2 * 60 * 60_000).toISOString().replace('Z', '+02:00');
    expect((await settingsAt(at, local)).clock).toBe(3);
  });

  test('each version names when and by which run it was written, and a joined node the run of its start', async () => {
    const { id, at, writer } = await related();
    await stage.set(writer, id, { host: '"one"' }, [], { hook: 'install' });
    await stage.set(writer, id, { host: '"two"' }, [], { hook: 'config-changed' });
    const written = async (clock: number) =>
      (await listNodes(stage.ctx, { ...at, at: String(clock) })).nodes.find(({ unit }) => unit === writer.name)
        ?.written;
    expect(await written(2)).toMatchObject({ clock: 2, run: null });
    expect(await written(3)).toMatchObject({ clock: 3, run: { hook: 'install', number: 1, vmId: writer.vmId } });
    expect(await written(4)).toMatchObject({ clock: 4, run: { hook: 'config-changed', number: 2 } });
  });

  test('EN-74 a unit that left is in the past states only, with its settings', async () => {
    const { id, at, reader, writer } = await related();
    await stage.set(writer, id, { host: '"last"' });
    await stage.leave(writer);
    const units = async (clock?: number) => (await settingsAt(at, clock?.toString())).values.map(([unit]) => unit);
    expect(await units()).toEqual([reader.name]);
    expect(await units(4)).toEqual([reader.name]);
    expect(await units(3)).toEqual([reader.name, writer.name]);
    expect((await settingsAt(at, '3')).values[1]).toEqual([writer.name, 2, { host: '"last"' }]);
  });

  test('EN-74 a key that was removed and set again has its earlier values', async () => {
    const { id, at, writer } = await related();
    await stage.set(writer, id, { a: '1', b: '1' });
    await stage.set(writer, id, {}, ['a']);
    await stage.set(writer, id, { a: '3' });
    const states = await Promise.all([2, 3, 4, 5].map((clock) => settingsAt(at, String(clock))));
    expect(states.map(({ values }) => values[1]?.[2])).toEqual([
      {},
      { a: '1', b: '1' },
      { b: '1' },
      { a: '3', b: '1' },
    ]);
    expect(states.map(({ values }) => values[1]?.[1])).toEqual([1, 2, 3, 4]);
  });

  test('units are listed in the order of their numbers, not of their names', async () => {
    const { at, writer, writerId } = await related();
    const more = await stage.units(writerId, 10);
    const listed = (await listNodes(stage.ctx, at)).nodes.map(({ unit }) => unit).slice(1);
    expect(listed).toEqual([writer.name, ...more.map(({ name }) => name)]);
  });

  test.each(['yesterday', '2026-11-29', '-1', '1.5', '', '1234567890123456', '2026-13-01T00:00:00Z'])(
    'the time %j is rejected',
    async (at) => {
      const rejected = await listNodes(stage.ctx, { model: 'prod', number: 1, at }).catch((error) => error);
      expect(rejected.faults).toMatchObject([{ path: '/at', code: 'relation_at_form' }]);
    },
  );

  test('a value that the clock has not reached is unknown, and the answer has the current value', async () => {
    const { at } = await related();
    await expect(listNodes(stage.ctx, { ...at, at: '3' })).rejects.toMatchObject({
      ...{ kind: 'not_found', code: 'relation_clock_unknown', params: { clock: 2 } },
    });
    expect((await listNodes(stage.ctx, { ...at, at: '2' })).clock).toBe(2);
  });
});

/** Copies the last event of a relation, so that its clock is `clock`. */
const repeat = async (relation: number, clock: number) => {
  await stage.ctx.db.execute(sql`
    insert into relation_log (relation_id, clock, unit_id, kind, version, delta, run_vm, run_id, at)
    select l.relation_id, n, l.unit_id, l.kind, n, l.delta, l.run_vm, l.run_id, l.at
      from relation_log l join relations r on r.id = l.relation_id and r.clock = l.clock,
        generate_series(l.clock + 1, ${clock}) n where r.id = ${relation}`);
  await stage.ctx.db.execute(sql`update relations set clock = ${clock} where id = ${relation}`);
};

test('EN-64 another secret key seals more events than one statement reads, and settings of units that left', async () => {
  const { id, at, writer, reader } = await related();
  const set = Object.fromEntries([
    ['__proto__', '1'],
    ['host', '"a"'],
  ]);
  await stage.set(reader, id, { kept: '"here"' });
  await stage.set(writer, id, set);
  await repeat(id, 520);
  await stage.leave(writer);
  const next = deriveKeys(randomBytes(32));
  const resealed = { ...stage.ctx, keys: next };
  const before = await settingsAt(at, '520');
  const { rows } = await stage.ctx.db.execute<{ values: number }>(sql`
    select (select count(*) from relation_units, jsonb_object_keys(settings))::int + (
      select count(*) from relation_log, jsonb_each(delta) d, jsonb_array_elements(d.value) v
       where jsonb_typeof(v) = 'string')::int as values`);
  expect(await stage.ctx.db.transaction((tx) => resealRelations(tx, stage.ctx.keys, next))).toBe(rows[0]?.values);
  const { items } = await listRelationEvents(resealed, { ...at, limit: 500 });
  expect(items[1]?.changes.map(({ key, after }) => [key, after?.value])).toEqual(Object.entries(set));
  expect(await getRelationSettings(resealed, { ...at, at: '520' })).toMatchObject({
    clock: before.clock,
    nodes: [{ settings: [{ key: 'kept', value: '"here"' }] }, { settings: [{ value: '1' }, { value: '"a"' }] }],
  });
  await expect(getRelationSettings(stage.ctx, { ...at, at: '520' })).rejects.toThrow();
  await stage.ctx.db.transaction((tx) => resealRelations(tx, next, stage.ctx.keys));
});

describe('events that are no longer kept', () => {
  test('EN-74 what is older than the days that are kept is deleted, except departures', async () => {
    const { id, at, writer, writerId } = await related();
    const gone = await stage.unit(writerId);
    await stage.leave(gone);
    await stage.set(writer, id, { host: '"one"' });
    await stage.set(writer, id, { host: '"two"' });
    await date(id, [40, 40, 40, 39, 30, 29]);
    expect(await clearRelationEvents(stage.ctx, stage.ctx.now, 30)).toBe(3);
    const { items } = await listRelationEvents(stage.ctx, at);
    expect(items.map(({ clock, kind }) => [clock, kind])).toEqual([
      [6, 'changed'],
      [5, 'changed'],
      [4, 'left'],
    ]);
    await expect(settingsAt(at, '2')).rejects.toMatchObject({ kind: 'not_found', code: 'relation_history_gone' });
    expect((await settingsAt(at, '3')).values.map(([unit]) => unit)).toContain(gone.name);
    expect((await settingsAt(at, '4')).values.map(([unit, version]) => [unit, version])).toEqual([
      [expect.stringMatching(/^reads/), 1],
      [writer.name, 1],
    ]);
    expect(await clearRelationEvents(stage.ctx, stage.ctx.now, 30), 'again').toBe(0);
  });

  test('EN-74 a relation that has not changed for a long time has the same settings at each time that is kept', async () => {
    const { id, at, writer } = await related();
    await stage.set(writer, id, { host: '"old"' });
    await date(id, [60, 50, 40]);
    await clearRelationEvents(stage.ctx, stage.ctx.now, 30);
    for (const days of [0, 1, 29]) {
      const found = await settingsAt(at, daysAgo(days));
      expect(found, `${days} days ago`).toMatchObject({
        clock: 3,
        values: [expect.anything(), [writer.name, 2, { host: '"old"' }]],
      });
    }
    await expect(settingsAt(at, daysAgo(45))).rejects.toMatchObject({ code: 'relation_history_gone' });
    await stage.set(writer, id, { host: '"new"' });
    expect((await settingsAt(at, daysAgo(1))).values[1]).toEqual([writer.name, 2, { host: '"old"' }]);
  });

  test('EN-74 the state before a departure is known after all other events were deleted', async () => {
    const { id, at, reader, writer } = await related();
    await stage.set(writer, id, { host: '"old"' });
    await stage.leave(writer);
    await date(id, [60, 50, 40, 1]);
    await clearRelationEvents(stage.ctx, stage.ctx.now, 30);
    expect(await settingsAt(at, daysAgo(2))).toMatchObject({
      clock: 3,
      values: [expect.anything(), [writer.name, 2, { host: '"old"' }]],
    });
    expect((await settingsAt(at, daysAgo(1))).values.map(([unit]) => unit)).toEqual([reader.name]);
    await expect(settingsAt(at, '2')).rejects.toMatchObject({ code: 'relation_history_gone' });
  });

  test('more events than one statement deletes are deleted in one call', async () => {
    const { id, writer } = await related();
    await stage.ctx.db.execute(sql`
      insert into relation_log (relation_id, clock, unit_id, kind, version, delta, at)
      select ${id}, n, ${writer.id}, 'changed', n, '{}', ${daysAgo(90)}::timestamptz from generate_series(3, 10500) n`);
    expect(await clearRelationEvents(stage.ctx, stage.ctx.now, 30)).toBe(10_498);
  });
});

describe('pages of events', () => {
  test('a page has 100 events, and the last page has no cursor', async () => {
    const { id, at, writer } = await related();
    await stage.set(writer, id, { n: '1' });
    await repeat(id, 200);
    const first = await listRelationEvents(stage.ctx, at);
    expect([first.items.length, first.items[0]?.clock]).toEqual([100, 200]);
    const second = await listRelationEvents(stage.ctx, { ...at, cursor: first.nextCursor ?? '' });
    expect([second.items.length, second.items[0]?.clock, second.nextCursor]).toEqual([100, 100, null]);
    for (const limit of [0, 501]) {
      await expect(listRelationEvents(stage.ctx, { ...at, limit })).rejects.toMatchObject({ code: 'invalid' });
    }
  });

  test('a page of large events ends early, and its cursor continues after the last one', async () => {
    const { id, at, writer } = await related();
    await stage.set(writer, id, { large: `"${'x'.repeat(60_000)}"` });
    await repeat(id, 90);
    const first = await listRelationEvents(stage.ctx, at);
    expect(first.items.length).toBeLessThan(80);
    expect(Buffer.byteLength(JSON.stringify(first.items))).toBeLessThan(4 * 1024 * 1024);
    const { items } = await listRelationEvents(stage.ctx, { ...at, cursor: first.nextCursor ?? '' });
    const clocks = [...first.items, ...items].map(({ clock }) => clock);
    expect(clocks).toEqual(Array.from({ length: 90 }, (_, n) => 90 - n));
  });

  test('the event of a removed key has its last value, and a departure changes no key', async () => {
    const { id, at, writer } = await related();
    await stage.set(writer, id, { host: '"a"', token: '"b"' });
    await stage.set(writer, id, {}, ['token', 'host']);
    await stage.leave(writer);
    const { items } = await listRelationEvents(stage.ctx, { ...at, limit: 2 });
    expect(items).toMatchObject([
      { kind: 'left', unit: writer.name, version: 3, changes: [], run: null },
      {
        ...{ kind: 'changed', version: 3 },
        changes: [
          { key: 'host', masked: false, before: { bytes: 3, value: '"a"' }, after: null },
          { key: 'token', masked: true, before: { bytes: 3, value: null }, after: null },
        ],
      },
    ]);
  });

  test('a viewer gets the sizes of values, and an unknown relation or model is not found', async () => {
    const { id, at, writer } = await related();
    await stage.set(writer, id, { host: '"a"' });
    const [event] = (await listRelationEvents(await stage.as('viewer'), at)).items;
    expect(event?.changes).toEqual([{ key: 'host', masked: false, before: null, after: { bytes: 3, value: null } }]);
    await expect(listRelationEvents(stage.ctx, { ...at, number: 999 })).rejects.toMatchObject({
      code: 'relation_unknown',
    });
    await expect(listRelationEvents(stage.ctx, { ...at, model: 'none' })).rejects.toMatchObject({
      code: 'model_unknown',
    });
  });

  test('a relation is busy while more than 60 events are from the last minute', async () => {
    const { id, at, writer } = await related();
    await stage.set(writer, id, { n: '1' });
    const isBusy = async (seconds = 0) =>
      (await getRelation({ ...stage.ctx, now: new Date(stage.ctx.now.getTime() + seconds * 1_000) }, at)).busy;
    await repeat(id, 60);
    expect(await isBusy()).toBe(false);
    await repeat(id, 61);
    expect(await isBusy(59)).toBe(true);
    expect(await isBusy(60)).toBe(false);
  });
});

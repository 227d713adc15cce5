import { randomBytes } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { deriveKeys } from '#server/platform/keys.ts';
import { readActs } from '#server/testing/acts.ts';
import { clearRelationEvents } from './clear-events.ts';
import { listRelationEvents } from './list-events.ts';
import { listSeen } from './list-seen.ts';
import { getRelationSettings, listNodes, revealNode } from './node-view.ts';
import { readNode } from './read-node.ts';
import { resealRelations } from './reseal-relations.ts';
import { recordedStatements } from './testing/recorded-statements.ts';
import { RelationStage, type StagedUnit } from './testing/relation-stage.ts';

let stage: RelationStage;
let app: StagedUnit;
let base: StagedUnit;
let relation: number;
const at = { model: 'prod', number: 1 };
const password = '"correct horse battery"';
beforeAll(async () => {
  stage = await RelationStage.open();
  const appId = await stage.service('app', { requires: { db: { interface: 'store' } } });
  const baseId = await stage.service('base', { provides: { db: { interface: 'store' } } }, ['salt']);
  relation = await stage.relate('app', 'base');
  app = await stage.unit(appId);
  base = await stage.unit(baseId);
  await stage.set(base, relation, { host: '"10.0.0.4"', password, salt: '"pepper"' }, [], { hook: 'start' });
});

describe('the agent’s read', () => {
  test('EN-4 a unit reads its own node and those of all participants; everyone else is rejected', async () => {
    expect((await stage.read(base, relation, base.name)).settings).toMatchObject({ host: '"10.0.0.4"' });
    expect((await stage.read(app, relation, base.name)).settings).toMatchObject({ password });
    const late = await stage.unit(base.serviceId, { started: false });
    for (const [unit, other] of [
      [late, base.name],
      [app, late.name],
      [app, 'nothing/0'],
      [app, '../x'],
    ] as const) {
      await expect(stage.read(unit, relation, other)).rejects.toMatchObject({
        kind: 'not_found',
        code: 'node_unknown',
      });
    }
    await expect(stage.read(app, 9_999, base.name)).rejects.toMatchObject({ code: 'node_unknown' });
    await expect(stage.read({ ...app, vmId: base.vmId }, relation, base.name)).rejects.toMatchObject({
      code: 'unit_unknown',
    });
  });
});

describe('values', () => {
  test('EN-64 a dump of the database and a log of every statement hold no value in plain text', async () => {
    const secret = 'plain-value-that-is-secret';
    const { rows: tables } = await stage.ctx.db.execute<{ name: string }>(sql`
      select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`);
    let dump = await recordedStatements(async () => {
      await stage.set(base, relation, { secret: `"${secret}"`, list: `["${secret}"]` });
      await stage.set(base, relation, {}, ['list']);
      await stage.read(app, relation, base.name);
      await getRelationSettings(stage.ctx, at);
      await listRelationEvents(stage.ctx, at);
      await revealNode(stage.ctx, { ...at, unit: base.name });
    });
    expect(dump).toContain('relation_units');
    for (const { name } of tables) {
      const { rows } = await stage.ctx.db.execute<{ text: string }>(
        sql`select coalesce(string_agg(t::text, chr(10)), '') as text from ${sql.identifier(name)} t`,
      );
      dump += rows[0]?.text;
    }
    expect(dump).toContain('base/0');
    for (const form of [secret, Buffer.from(secret).toString('base64').slice(0, -2), 'correct horse']) {
      expect(dump).not.toContain(form);
    }
    await stage.set(base, relation, {}, ['secret']);
  });

  test('EN-65 a viewer gets keys, sizes, versions and writers, and no value by any call', async () => {
    const viewer = await stage.as('viewer');
    const { nodes } = await listNodes(viewer, at);
    expect(nodes).toMatchObject([
      { unit: 'app/0', side: 'requires', version: 1, bytes: 0, keys: [], confirmedBy: 0 },
      {
        ...{ unit: 'base/0', side: 'provides', confirmedBy: 0 },
        keys: [
          { key: 'host', bytes: 10, masked: false },
          { key: 'password', bytes: password.length, masked: true },
          { key: 'salt', bytes: 8, masked: true },
        ],
        written: { run: { vmId: base.vmId } },
      },
    ]);
    const log = await listRelationEvents(viewer, at);
    expect(JSON.stringify([nodes, log])).not.toMatch(/10\.0\.0\.4|correct horse|pepper/);
    await expect(getRelationSettings(viewer, at)).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(revealNode(viewer, { ...at, unit: base.name })).rejects.toMatchObject({ kind: 'forbidden' });
  });

  test('EN-65 an operator gets values, and those of masked keys only by an act that the activity has', async () => {
    const { nodes } = await getRelationSettings(stage.ctx, at);
    const valuesOf = (settings: { key: string; value: string | null }[] = []) =>
      Object.fromEntries(settings.map(({ key, value }) => [key, value]));
    expect(valuesOf(nodes[1]?.settings)).toEqual({ host: '"10.0.0.4"', password: null, salt: null });
    const revealed = await revealNode(stage.ctx, { ...at, unit: base.name });
    expect(valuesOf(revealed.settings)).toEqual({ host: '"10.0.0.4"', password, salt: '"pepper"' });
    const entries = await readActs(stage.ctx.db);
    expect(entries.at(-1)).toMatchObject({
      ...{ action: 'node.reveal', vmId: base.vmId },
      details: { unit: 'base/0', number: 1, keys: ['password', 'salt'] },
    });
    await expect(revealNode(stage.ctx, { ...at, unit: 'app/9' })).rejects.toMatchObject({ code: 'node_unknown' });
  });
});

test('another secret key seals the settings and their history again', async () => {
  const next = deriveKeys(randomBytes(32));
  const before = await stage.read(app, relation, base.name);
  const events = await listRelationEvents(stage.ctx, at);
  const count = await stage.ctx.db.transaction((tx) => resealRelations(tx, stage.ctx.keys, next));
  expect(count).toBeGreaterThan(6);
  await expect(stage.read(app, relation, base.name)).rejects.toThrow();
  const resealed = { ...stage.ctx, keys: next };
  expect(await readNode(resealed, { vmId: app.vmId, unit: app.name, relationId: relation, other: base.name })).toEqual(
    before,
  );
  expect(await listRelationEvents(resealed, at)).toEqual(events);
  await stage.ctx.db.transaction((tx) => resealRelations(tx, next, stage.ctx.keys));
  const { version } = await stage.read(app, relation, base.name);
  await stage.set(base, relation, { host: '"10.0.0.4"' });
  expect((await stage.read(app, relation, base.name)).version, 'the fingerprints fit again').toBe(version);
});

describe('who has confirmed', () => {
  test('EN-73 each reader of a node has the version that it confirmed, and why it is behind', async () => {
    const viewer = await stage.as('viewer');
    const readers = async () => (await listSeen(viewer, { ...at, unit: base.name })).readers;
    const changed = { hook: 'db-relation-changed', relationId: relation, remote: base };
    expect(await readers()).toEqual([{ unit: 'app/0', version: null, at: null, confirmed: false, why: 'waiting' }]);
    const { version } = await stage.read(app, relation, base.name);
    const run = await stage.begin(app, { ...changed, version });
    expect(await readers()).toMatchObject([{ confirmed: false, why: 'running' }]);
    await stage.end(app, run);
    expect(await readers()).toMatchObject([{ version, confirmed: true, why: null }]);
    await stage.set(base, relation, { more: '1' });
    await stage.ctx.db.execute(sql`
      update units set failing = jsonb_build_object(${String(relation)}::text, '{}'::jsonb) where id = ${app.id}`);
    expect(await readers()).toMatchObject([{ version, confirmed: false, why: 'failing' }]);
    await stage.ctx.db.execute(sql`update units set failing = '{}' where id = ${app.id}`);
    await expect(listSeen(viewer, { ...at, unit: 'base/77' })).rejects.toMatchObject({ code: 'node_unknown' });
  });
});

describe('history', () => {
  test('EN-74 the state at each clock, reconstructed from the log, is what readers got then', async () => {
    const [a, b] = [
      await stage.service('pasta', { requires: { db: { interface: 'past' } } }),
      await stage.service('pastb', { provides: { db: { interface: 'past' } } }),
    ];
    const of = await stage.relate('pasta', 'pastb');
    const reader = await stage.unit(a);
    const writers = await stage.units(b, 3);
    const number = 2;
    const seen = new Map<number, unknown>();
    const keep = async (left: string[] = []) => {
      const nodes = [];
      for (const { name } of [reader, ...writers].filter((one) => !left.includes(one.name))) {
        const { version, settings } = await stage.read(reader, of, name);
        nodes.push({ unit: name, version, settings });
      }
      seen.set(await stage.clock(of), nodes);
    };
    await keep();
    const keys = ['a', 'b', 'c', '__proto__'];
    for (let step = 0; step < 15; step += 1) {
      const writer = writers[step % 3] as StagedUnit;
      const key = keys[step % keys.length] as string;
      const set = Object.fromEntries([[key, `${step}`]]);
      await stage.set(writer, of, step % 5 === 4 ? {} : set, step % 5 === 4 ? [key] : []);
      await keep();
    }
    await stage.leave(writers[2] as StagedUnit);
    await keep([writers[2]?.name ?? '']);
    for (const [clock, nodes] of seen) {
      const past = await getRelationSettings(stage.ctx, { model: 'prod', number, at: String(clock) });
      const shown = past.nodes.map(({ unit, version, settings }) => ({
        ...{ unit, version },
        settings: Object.fromEntries(settings.map(({ key, value }) => [key, value])),
      }));
      expect(shown).toEqual(nodes);
    }
    const beforeAny = await getRelationSettings(stage.ctx, { model: 'prod', number, at: '0' });
    expect(beforeAny.nodes).toEqual([]);
    expect((await getRelationSettings(stage.ctx, { model: 'prod', number, at: '2020-01-01T00:00:00Z' })).clock).toBe(0);
    const late = getRelationSettings(stage.ctx, { model: 'prod', number, at: '9999' });
    await expect(late).rejects.toMatchObject({ code: 'relation_clock_unknown' });
    await expect(getRelationSettings(stage.ctx, { ...at, at: '-1' })).rejects.toMatchObject({ code: 'invalid' });
  }, 60_000);

  test('the log has one event per clock, newest first, with the run and what changed', async () => {
    const first = await listRelationEvents(stage.ctx, { ...at, limit: 2 });
    const all = [...first.items];
    for (let cursor = first.nextCursor; cursor !== null; ) {
      const page = await listRelationEvents(stage.ctx, { ...at, limit: 2, cursor });
      all.push(...page.items);
      cursor = page.nextCursor;
    }
    const clock = await stage.clock(relation);
    expect(all.map((event) => event.clock)).toEqual(Array.from({ length: clock }, (_, n) => clock - n));
    expect(all.at(-1)).toMatchObject({ clock: 1, unit: 'app/0', kind: 'joined', version: 1, changes: [] });
    expect(all.at(-3)).toMatchObject({
      ...{ unit: 'base/0', kind: 'changed', version: 2, run: { vmId: base.vmId, hook: 'start' } },
      changes: [
        { key: 'host', masked: false, before: null, after: { bytes: 10, value: '"10.0.0.4"' } },
        { key: 'password', masked: true, before: null, after: { value: null } },
        { key: 'salt', masked: true },
      ],
    });
    const bad = listRelationEvents(stage.ctx, { ...at, cursor: 'x' });
    await expect(bad).rejects.toMatchObject({ code: 'cursor_invalid' });
  });

  test('old events are deleted, and what they were needed for is no longer there', async () => {
    const later = new Date(stage.ctx.now.getTime() + 31 * 24 * 60 * 60_000);
    const clock = await stage.clock(relation);
    expect(await clearRelationEvents(stage.ctx, stage.ctx.now, 30)).toBe(0);
    expect(await clearRelationEvents(stage.ctx, later, 30)).toBeGreaterThan(0);
    await expect(getRelationSettings(stage.ctx, { ...at, at: '1' })).rejects.toMatchObject({
      code: 'relation_history_gone',
    });
    const { nodes } = await getRelationSettings(stage.ctx, { ...at, at: String(clock) });
    expect(nodes.map(({ unit, written }) => ({ unit, written }))).toEqual([
      { unit: 'app/0', written: null },
      { unit: 'base/0', written: null },
    ]);
    const pastb = await getRelationSettings(stage.ctx, { model: 'prod', number: 2 });
    expect(pastb.nodes.map(({ unit }) => unit)).toEqual(['pasta/0', 'pastb/0', 'pastb/1']);
  });
});

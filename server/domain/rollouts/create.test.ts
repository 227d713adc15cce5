import { randomBytes } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, rollouts } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { deriveKeys } from '#server/platform/keys.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext } from '#server/testing/context.ts';
import { outcomeOf } from '#server/testing/records.ts';
import {
  createRollout,
  getRollout,
  listStrategies,
  removeStrategy,
  resealRollouts,
  setStrategy,
  updateRollout,
} from './index.ts';
import type { DefinitionInput } from './read-definition.ts';
import { openGiven } from './secrets.ts';
import { givenRollout, probeDefinition, rowOf } from './testing/given-rollout.ts';

let ctx: Context;
let viewer: Context;
let admin: Context;
beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
  viewer = await testContext({ services: ctx, role: 'viewer' });
  admin = await testContext({ services: ctx, role: 'admin' });
});

const create = (change: object) => createRollout(ctx, { ...probeDefinition, ...change } as DefinitionInput);
const secret = { ...probeDefinition.change, protectedSettings: { password: 'hunter2' } };

describe('RO-1 a selection is never wider than it reads', () => {
  test.each([
    ['an empty filter', { include: {} }, '/select/include selection_empty'],
    ['a filter with an empty list', { include: { tags: [] } }, '/select/include selection_empty'],
    ['an empty text', { include: { q: '' } }, '/select/include selection_empty'],
    ['an unknown key', { include: { tag: ['env=prod'] } }, '/select/include/tag field_unknown'],
    ['an unknown key of exclude', { all: true, exclude: { tgas: [] } }, '/select/exclude/tgas field_unknown'],
    ['all beside a filter', { all: true, include: { q: 'web' } }, '/select/all selection_twice'],
    ['all that is false', { all: false }, '/select/all field_choice'],
    ['no ids', { ids: [] }, '/select/ids selection_empty'],
    ['nothing', {}, '/select selection_empty'],
  ])('%s is rejected with its path, and nothing is stored', async (_, select, fault) => {
    const before = await ctx.db.$count(rollouts);
    const [rejected, first] = (await outcomeOf(create({ select }))).split('; ');
    expect([rejected, first]).toEqual(['unprocessable invalid', fault]);
    expect(await ctx.db.$count(rollouts)).toBe(before);
  });

  test('every field of the VM list is a part of a filter', async () => {
    const values = { text: '', words: [], number: 1, time: '2026-03-01T12:00:00Z', tags: ['a=b'] };
    for (const { name, value } of ctx.fleetFields) {
      const given = value.kind === 'words' ? [value.words[0]] : values[value.kind];
      const select = { include: { [name]: given, q: 'web' } };
      expect(`${name}: ${await outcomeOf(create({ select }))}`).toBe(`${name}: done`);
    }
  });

  test('tags are stored as the list reads them', async () => {
    const { id } = await create({ select: { include: { tags: ['a%3Db=c', 'd'] } } });
    const tags = [{ name: 'a=b', value: 'c' }, { name: 'd' }];
    expect((await rowOf(ctx, id)).definition.select).toEqual({ include: { tags } });
    expect((await getRollout(ctx, { id })).definition.select).toEqual({ include: { tags: ['a%3Db=c', 'd'] } });
  });
});

test('a rollout is created as a draft with the defaults of its strategy', async () => {
  const view = await create({ rings: null });
  expect(view).toMatchObject({ state: 'draft', kind: 'rollout', revision: 1, createdBy: 'Test operator', plan: null });
  expect(view.counts).toMatchObject({ members: 0, queued: 0 });
  expect(view.rings.map(({ name, state, size }) => [name, state, size])).toEqual([
    ['first', 'waiting', 0],
    ['tenth', 'waiting', 0],
    ['half', 'waiting', 0],
    ['all', 'waiting', 0],
  ]);
  const [act] = await readActs(ctx.db, eq(auditEntries.targetId, view.id));
  expect(act).toMatchObject({ action: 'rollout.create', details: { name: view.name, rolloutKind: 'rollout' } });
});

test('a bulk act has one ring', async () => {
  const view = await create({ kind: 'bulk', rings: undefined });
  expect(view).toMatchObject({ kind: 'bulk', rings: [{ name: 'all', bakeSeconds: 0 }] });
  expect(view.definition).toMatchObject({ strategy: 'at-once', gates: { inFlight: { count: 200 }, success: null } });
});

test.each(['rollout', 'bulk'] as const)('the definition of a %s is returned as it can be sent again', async (kind) => {
  const rings = kind === 'bulk' ? undefined : probeDefinition.rings;
  const view = await create({ kind, rings, gates: { errors: { percent: 2.5, atLeast: 3 }, compare: null } });
  const again = await updateRollout(ctx, { id: view.id, revision: 1, definition: view.definition });
  expect(again).toEqual(view);
});

test('viewers get the definition without settings', async () => {
  const { id } = await givenRollout(ctx);
  const settings = { publicSettings: { merge: { level: 'info' } } };
  expect((await getRollout(ctx, { id })).definition.change).toMatchObject(settings);
  expect((await getRollout(viewer, { id })).definition.change).not.toHaveProperty('publicSettings');
});

describe('RO-39 protected settings', () => {
  test('are stored encrypted, bound to the rollout, and never returned', async () => {
    const { id } = await create({ change: secret });
    const row = await rowOf(ctx, id);
    expect(row.setBy).toBe('user:test-operator');
    expect(JSON.stringify([row.definition, row.sealed?.toString('latin1')])).not.toContain('hunter2');
    expect(openGiven(ctx, row)).toEqual({ password: 'hunter2' });
    expect(() => openGiven(ctx, { ...row, id: '00000000-0000-4000-8000-000000000000' })).toThrow();
    for (const reader of [ctx, viewer, admin]) {
      expect(JSON.stringify(await getRollout(reader, { id }))).not.toMatch(/hunter2|"password"/);
    }
    const acts = await readActs(ctx.db, eq(auditEntries.targetId, id));
    expect(JSON.stringify(acts)).not.toContain('hunter2');
  });

  test('are rejected where only VMs keep secrets', async () => {
    const kept = { ...ctx, config: { ...ctx.config, custody: 'vm' as const } };
    const done = outcomeOf(createRollout(kept, { ...probeDefinition, change: secret } as DefinitionInput));
    expect(await done).toBe('unprocessable secrets_custody; /change/protectedSettings secrets_custody');
    expect(await outcomeOf(createRollout(kept, probeDefinition))).toBe('done');
  });

  test('are kept by an edit that does not name them, and replaced or removed by one that does', async () => {
    const { id, definition } = await create({ change: secret });
    const edit = async (revision: number, change: object) => {
      const given = { ...definition, name: `edit ${revision}`, change: { ...probeDefinition.change, ...change } };
      await updateRollout(ctx, { id, revision, definition: given });
      const row = await rowOf(ctx, id);
      return [row.definition.change.protectedSettings, openGiven(ctx, row)];
    };
    expect(await edit(1, {})).toEqual(['given', { password: 'hunter2' }]);
    expect(await edit(2, { protectedSettings: { password: 'other' } })).toEqual(['given', { password: 'other' }]);
    expect(await edit(3, { protectedSettings: null })).toEqual(['removed', undefined]);
  });
});

test('a definition that is larger than the limit is rejected', async () => {
  const limits = { ...ctx.config.limits, rollouts: { ...ctx.config.limits.rollouts, definitionBytes: 100 } };
  const small = { ...ctx, config: { ...ctx.config, limits } };
  expect(await outcomeOf(createRollout(small, probeDefinition))).toBe('unprocessable definition_too_large');
});

describe('strategies', () => {
  const rings = [{ name: 'all', upTo: { percent: 100 } }];

  test('are saved, used by name and deleted', async () => {
    const saved = await setStrategy(ctx, { name: 'nightly', rings, gates: { soakSeconds: 60 } });
    expect(saved).toMatchObject({ name: 'nightly', builtIn: false, changedBy: 'Test operator' });
    const used = await create({ strategy: 'nightly', rings: undefined });
    expect(used.rings.map(({ name }) => name)).toEqual(['all']);
    const names = (await listStrategies(viewer)).items.map(({ name, builtIn }) => [name, builtIn]);
    expect(names).toEqual([
      ['careful', true],
      ['automatic', true],
      ['at-once', true],
      ['nightly', false],
    ]);
    await removeStrategy(ctx, { name: 'nightly' });
    expect(await outcomeOf(removeStrategy(ctx, { name: 'nightly' }))).toBe('not_found strategy_unknown');
    expect(await outcomeOf(create({ strategy: 'nightly', rings: undefined }))).toBe('not_found strategy_unknown');
  });

  test('of automatic upgrades are chosen by admins, one for each handler', async () => {
    const terms = { rings, automaticFor: ['Acme.Lab.Probe'] };
    expect(await outcomeOf(setStrategy(ctx, { name: 'first', ...terms }))).toBe('forbidden forbidden');
    await setStrategy(admin, { name: 'first', ...terms });
    await setStrategy(admin, { name: 'careful', automaticFor: ['Acme.Lab.Probe'] });
    const chosen = (await listStrategies(ctx)).items.map(({ name, automaticFor }) => [name, automaticFor.length]);
    expect(chosen).toEqual(
      expect.arrayContaining([
        ['careful', 1],
        ['first', 0],
      ]),
    );
    expect(await outcomeOf(setStrategy(admin, { name: 'careful', rings }))).toBe('conflict strategy_built_in');
    expect(await outcomeOf(removeStrategy(admin, { name: 'careful' }))).toBe('conflict strategy_built_in');
  });
});

test('protected settings are readable after the secret key changes', async () => {
  const { id } = await create({ change: secret });
  const to = deriveKeys(randomBytes(32));
  await ctx.db.transaction((tx) => resealRollouts(tx, ctx.keys, to));
  const row = await rowOf(ctx, id);
  expect(openGiven({ keys: to }, row)).toEqual({ password: 'hunter2' });
  expect(() => openGiven(ctx, row)).toThrow();
});

import { beforeAll, describe, expect, test } from 'vitest';
import { getModel } from '#server/domain/topology/index.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { getService, getUnit, listServices, removeService, setService } from './index.ts';
import { ServiceStage } from './testing/service-stage.ts';

let stage: ServiceStage;
let sets: Staged;
let blog: { formula: string; version: string };

const schema = {
  publicSettings: {
    type: 'object',
    properties: { title: { type: 'string', default: 'My blog' }, workers: { type: 'integer', default: 4 } },
    additionalProperties: false,
  },
  protectedSettings: { type: 'object', properties: { password: { type: 'string' } }, additionalProperties: false },
};

beforeAll(async () => {
  stage = await ServiceStage.open();
  sets = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
  blog = await stage.formula('blog', '1.0.0.0', { settingsSchema: schema });
});

const revision = async () => (await getModel(stage.ctx, { model: sets.model })).revision;

describe('a service that is declared', () => {
  test('EN-1 has units in their order, each on a VM with a token, in one cloud service', async () => {
    const declared = await stage.declare(sets, 'first', { ...blog, units: 3 });
    expect(declared.newUnits.map(({ unit }) => unit)).toEqual(['first/0', 'first/1', 'first/2']);
    expect(new Set(declared.newUnits.map(({ machine }) => machine?.cloudService)).size).toBe(1);
    for (const { machine } of declared.newUnits) expect(machine?.command).toContain(machine?.enrollmentToken);
    const shown = await getService(stage.ctx, { model: sets.model, service: 'first' });
    expect(shown.units).toEqual(declared.units);
    expect(shown.units).toMatchObject(
      declared.newUnits.map(({ unit, machine }) => ({
        ...{ unit, vmId: machine?.vmId, vm: machine?.vm, instanceId: machine?.instanceId, machine: machine?.machine },
        ...{ life: 'alive', stage: 'placed', health: 'unknown', version: '1.0.0.0', confirmedVersion: null },
      })),
    );
    const { items } = await listServices(stage.ctx, { model: sets.model });
    expect(items).toMatchObject([{ name: 'first', formula: blog.formula, units: 3, upgrade: { atOnce: 1 } }]);
  });

  test('shares its cloud service with no other service', async () => {
    const declared = await stage.declare(sets, 'second', { ...blog });
    const first = await getUnit(stage.ctx, { model: sets.model, unit: 'first/0' });
    expect(declared.newUnits).toHaveLength(1);
    expect(first.instanceId).not.toContain(declared.newUnits[0]?.machine?.cloudService);
  });

  test('changes nothing if it is declared again', async () => {
    const before = await getService(stage.ctx, { model: sets.model, service: 'first' });
    const { newUnits, ...again } = await stage.declare(sets, 'first', { ...blog, units: 3, settings: {} });
    expect(newUnits).toEqual([]);
    expect(again).toEqual(before);
  });

  test('has at most as many relations between its units as an agent takes', async () => {
    const peers = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`r${n}x`, { interface: 'chain' }]));
    const rings = await stage.formula('rings', '1.0.0.0', { metadata: { peers: peers(64) } });
    const { version } = await stage.formula('rings', '1.1.0.0', { metadata: { peers: peers(65) } });
    await stage.declare(sets, 'rings', { ...rings, units: 0 });
    const refused = { code: 'relations_too_many', params: { limit: 64 } };
    await expect(stage.declare(sets, 'rings', { ...rings, version })).rejects.toMatchObject(refused);
    await expect(stage.declare(sets, 'more', { ...rings, version, units: 0 })).rejects.toMatchObject(refused);
    const { items } = await listServices(stage.ctx, { model: sets.model });
    expect(items.find(({ name }) => name === 'rings')).toMatchObject({ version: '1.0.0.0', units: 0 });
    expect(items.map(({ name }) => name)).not.toContain('more');
    await removeService(stage.ctx, { model: sets.model, service: 'rings', force: true });
  });

  test('has as many units as are declared; those with the highest numbers go', async () => {
    const { newUnits } = await stage.declare(sets, 'scaled', { ...blog, units: 3 });
    expect(newUnits).toHaveLength(3);
    const fewer = await stage.declare(sets, 'scaled', { ...blog, units: 1 });
    expect(fewer.units.map(({ unit }) => unit)).toEqual(['scaled/0']);
    const { items } = await listServices(stage.ctx, { model: sets.model });
    expect(items.find(({ name }) => name === 'scaled')).toMatchObject({ units: 1 });
    const more = await stage.declare(sets, 'scaled', { ...blog, units: 2 });
    expect(more.newUnits.map(({ unit }) => unit)).toEqual(['scaled/3']);
  });

  test('is read by viewers without the values of its settings', async () => {
    await stage.declare(sets, 'secret', { ...blog, units: 0, settings: { title: 'Mine' } });
    expect(await getService(stage.viewer, { model: sets.model, service: 'secret' })).toMatchObject({
      ...{ settings: null, effectiveSettings: null, settingKeys: ['title', 'workers'] },
    });
    const rejected = setService(stage.viewer, { model: sets.model, service: 'secret', ...blog });
    await expect(rejected).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('settings', () => {
  const settings = async (service: string) => {
    const {
      settings: given,
      effectiveSettings,
      settingsVersion,
    } = await getService(stage.ctx, {
      ...{ model: sets.model, service },
    });
    return { given, effectiveSettings, settingsVersion };
  };

  test('EN-76 have the defaults of the schema under what is set', async () => {
    await stage.declare(sets, 'defaults', { ...blog, units: 0 });
    expect(await settings('defaults')).toEqual({
      ...{ given: {}, effectiveSettings: { title: 'My blog', workers: 4 }, settingsVersion: 1 },
    });
    await stage.declare(sets, 'defaults', { ...blog, settings: { title: 'Mine' } });
    expect(await settings('defaults')).toEqual({
      ...{ given: { title: 'Mine' }, effectiveSettings: { title: 'Mine', workers: 4 }, settingsVersion: 2 },
    });
  });

  test('EN-76 a default that a later version changes arrives with the upgrade, unless it was set', async () => {
    const { formula } = await stage.formula('shop', '1.0.0.0', { settingsSchema: schema });
    const later = { ...schema.publicSettings.properties, title: { type: 'string', default: 'My shop' } };
    const publicSettings = { ...schema.publicSettings, properties: later };
    await stage.formula('shop', '1.1.0.0', { settingsSchema: { ...schema, publicSettings } });
    await stage.declare(sets, 'plain', { formula, version: '1.0', units: 0 });
    await stage.declare(sets, 'by-hand', { formula, version: '1.0', units: 0, settings: { title: 'My blog' } });
    for (const service of ['plain', 'by-hand']) await stage.declare(sets, service, { formula, version: '1.1' });
    expect(await settings('plain')).toMatchObject({ effectiveSettings: { title: 'My shop' }, settingsVersion: 2 });
    expect(await settings('by-hand')).toMatchObject({ effectiveSettings: { title: 'My blog' }, settingsVersion: 1 });
  });

  test('EN-77 that break the schema are rejected by path, and nothing changes', async () => {
    await stage.declare(sets, 'checked', { ...blog, units: 0, settings: { workers: 2 } });
    const before = [await settings('checked'), await revision()];
    const change = stage.declare(sets, 'checked', {
      ...{ ...blog, units: 2, settings: { workers: 'two', color: 'red' }, protectedSettings: { pin: 1 } },
    });
    const { faults } = await change.then(
      () => ({ faults: [] }),
      (error: { faults: { path: string }[] }) => error,
    );
    // The names of protected settings are not repeated.
    const paths = ['/protectedSettings', '/settings/color', '/settings/workers'];
    expect(faults.map(({ path }) => path).sort()).toEqual(paths);
    expect([await settings('checked'), await revision()]).toEqual(before);
    expect((await getService(stage.ctx, { model: sets.model, service: 'checked' })).units).toEqual([]);
  });

  test.each<[string, string, string]>([
    ['characters that the database cannot store', '{"a":"\\u0000"}', 'json_character'],
    ['half of a character', '{"a":"\\ud800"}', 'json_character'],
    ['a name that every object has', '{"__proto__":{"x":1}}', 'name_reserved'],
    ['too many levels', `{"deep":${'['.repeat(500)}${']'.repeat(500)}}`, 'json_too_deep'],
  ])('with %s are rejected', async (_name, json, code) => {
    const { formula } = await stage.formula('free').catch(() => ({ formula: 'Acme.Lab.free' }));
    const change = stage.declare(sets, 'opaque', { formula, version: '1.0', units: 0, settings: JSON.parse(json) });
    await expect(change).rejects.toMatchObject({ faults: [{ code }] });
  });

  test('that are too large are rejected', async () => {
    const { formula } = await stage.formula('large');
    const change = stage.declare(sets, 'large', { formula, version: '1.0', settings: { text: 'x'.repeat(64_000) } });
    await expect(change).rejects.toMatchObject({ faults: [{ path: '/settings', code: 'settings_too_large' }] });
  });

  test('EN-64 that are protected are stored encrypted, kept, replaced and removed', async () => {
    const protectedSettings = { password: 'hunter2-in-a-service' };
    const declare = (more: object) => stage.declare(sets, 'protected', { ...blog, units: 0, ...more });
    const first = await declare({ protectedSettings });
    expect(first).toMatchObject({ hasProtectedSettings: true, settingsVersion: 1 });
    expect(await declare({ protectedSettings })).toMatchObject({ settingsVersion: 1 });
    expect(await declare({ settings: { title: 'x' } })).toMatchObject({
      hasProtectedSettings: true,
      settingsVersion: 2,
    });
    expect(await declare({ protectedSettings: null })).toMatchObject({
      ...{ hasProtectedSettings: false, settingsVersion: 3 },
    });
    for (const table of ['service_settings', 'services', 'audit_entries', 'changes']) {
      const dump = await stage.dump(table);
      expect(dump).not.toContain('hunter2');
      expect(dump).not.toContain(Buffer.from('hunter2').toString('hex'));
    }
  });

  test('that two people change at the same time are checked against the settings that the other person stored', async () => {
    await stage.declare(sets, 'two', { ...blog, units: 0 });
    await Promise.all(['one', 'other'].map((title) => stage.declare(sets, 'two', { ...blog, settings: { title } })));
    expect(await settings('two')).toMatchObject({ settingsVersion: 3 });
  });

  test('cannot be protected if the portal keeps no copies', async () => {
    const ctx = { ...stage.ctx, config: { ...stage.ctx.config, custody: 'vm' as const } };
    const input = { model: sets.model, service: 'withheld', ...blog, protectedSettings: { password: 'x' } };
    await expect(setService(ctx, input, sets.provider)).rejects.toMatchObject({ code: 'protected_needs_custody' });
  });
});

describe('a declaration is rejected', () => {
  const declare = (service: string, request: object) =>
    stage.declare(sets, service, { ...blog, ...request }).then(
      () => 'accepted',
      ({ code, faults }: { code: string; faults: { code: string }[] }) => faults[0]?.code ?? code,
    );

  test.each(['wordpress-1', 'Ä', '-a', 'a--b', 'a'.repeat(64), ''])('for the name "%s"', async (name) => {
    expect(await declare(name, {})).toMatch(/^(?:service_name_form|field_empty)$/);
  });

  test('for a handler, a draft, a withdrawn version, an unknown version and another formula', async () => {
    await stage.formula('draft', '1.0.0.0', { state: 'draft' });
    await stage.formula('old', '1.0.0.0', { state: 'withdrawn' });
    expect(await declare('a', { formula: 'Acme.Lab.draft' })).toBe('version_draft');
    expect(await declare('a', { formula: 'Acme.Lab.old' })).toBe('version_withdrawn');
    expect(await declare('a', { version: '9.0' })).toBe('version_unknown');
    await stage.formula('other');
    await stage.declare(sets, 'fixed', { ...blog, units: 0 });
    expect(await declare('fixed', { formula: 'Acme.Lab.other' })).toBe('service_formula_fixed');
  });

  test('for a new service with the name of an existing one, which stays as it is', async () => {
    const { version, exposed } = await stage.declare(sets, 'taken', { ...blog, units: 0, exposed: true });
    expect(await declare('taken', { isNew: true, exposed: false })).toBe('service_exists');
    const kept = await getService(stage.ctx, { model: sets.model, service: 'taken' });
    expect(kept).toMatchObject({ version, exposed, settingsVersion: 1 });
    expect(await declare('untaken', { units: 0, isNew: true })).toBe('accepted');
  });

  test('in a model that is unknown or not bootstrapped, and in another revision', async () => {
    const input = { service: 'a', ...blog };
    await expect(setService(stage.ctx, { model: 'none', ...input })).rejects.toMatchObject({ code: 'model_unknown' });
    const stale = setService(stage.ctx, { model: sets.model, ...input, ifMatch: 0 });
    await expect(stale).rejects.toMatchObject({ code: 'model_changed' });
  });

  test('for a machine that cannot be chosen, and nothing is deployed', async () => {
    expect(await declare('chosen', { to: 0 })).toBe('unit_placement_unsupported');
    await expect(getService(stage.ctx, { model: sets.model, service: 'chosen' })).rejects.toMatchObject({
      ...{ code: 'service_unknown' },
    });
  });

  test('for time limits of unknown hooks', async () => {
    expect(await declare('limits', { timeouts: { 'in\u0000stall': 5 } })).toBe('field_invalid');
    expect(await declare('limits', { timeouts: { install: 86_401 } })).toBe('field_too_big');
  });

  test('for more units than one request can add', async () => {
    expect(await declare('many', { units: 101 })).toBe('units_at_once');
    await expect(getService(stage.ctx, { model: sets.model, service: 'many' })).rejects.toMatchObject({
      ...{ code: 'service_unknown' },
    });
  });
});

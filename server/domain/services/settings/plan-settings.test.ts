import { v7 as uuid } from 'uuid';
import { beforeAll, describe, expect, test } from 'vitest';
import { users } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { type FormulaVersionRow, requireFormula } from '../service-rows.ts';
import { ServiceStage } from '../testing/service-stage.ts';
import { type GivenServiceSettings, planSettings, readSettings, type SettingsRow } from './plan-settings.ts';
import { openServiceSecret } from './service-secret.ts';

let stage: ServiceStage;
let ada: Context;
let bob: Context;
let free: FormulaVersionRow;
let strict: FormulaVersionRow;
let later: FormulaVersionRow;

const object = (properties: object, more: object = {}) => ({
  ...{ type: 'object', properties, additionalProperties: false, ...more },
});
const title = { type: 'string', maxLength: 10, default: 'My blog' };

beforeAll(async () => {
  stage = await ServiceStage.open();
  const given = async (id: string) => {
    await stage.ctx.db.insert(users).values({ id, name: id, email: `${id}@example.test`, role: 'operator' });
    const actor = { kind: 'user' as const, id, name: id, role: 'operator' as const, namespaces: [] };
    return testContext({ actor, services: stage.ctx });
  };
  [ada, bob] = [await given('ada'), await given('bob')];
  free = await requireFormula(stage.ctx.db, await stage.formula('free'));
  const workers = { type: 'array', items: object({ port: { type: 'integer', maximum: 65_535 } }) };
  const protectedSettings = object({ password: { type: 'string' } });
  const settingsSchema = { publicSettings: object({ title, workers }), protectedSettings };
  strict = await requireFormula(stage.ctx.db, await stage.formula('strict', '1.0.0.0', { settingsSchema }));
  const next = { publicSettings: object({ title: { ...title, maxLength: 3, default: 'New' } }) };
  const changed = { settingsSchema: { ...next, protectedSettings: object({ pin: { type: 'integer' } }) } };
  later = await requireFormula(stage.ctx.db, await stage.formula('strict', '2.0.0.0', changed));
});

const password = { password: 'hunter2' };
const serviceId = uuid();
const plan = (given: GivenServiceSettings, current: SettingsRow | null = null, formula = free, ctx = ada) =>
  planSettings(ctx, { serviceId, current }, formula, given);
const opened = ({ secret, ...row }: SettingsRow) =>
  secret && JSON.parse(openServiceSecret(stage.ctx, { ...row, secret }).toString());

/** The faults of settings, as `path code`. */
const faultsOf = (given: GivenServiceSettings, current: SettingsRow | null = null, formula = strict) =>
  plan(given, current, formula).then(
    () => [],
    ({ faults }: { faults: { path: string; code: string }[] }) => faults.map(({ path, code }) => `${path} ${code}`),
  );

describe('a version of settings', () => {
  test('of a new service is the first, with who changed it and when', async () => {
    expect(await plan({})).toEqual({
      ...{ serviceId, version: 1, given: {}, effective: {}, formulaVersion: '1.0.0.0' },
      ...{ secret: null, secretFingerprint: null, secretSetBy: null, changedAt: ada.now, changedBy: 'ada' },
    });
  });

  test('follows only if something differs, whatever the order of the keys', async () => {
    const first = await plan({ settings: { a: 1, b: { c: 2, d: 3 } } });
    expect(await plan({ settings: { b: { d: 3, c: 2 }, a: 1 } }, first, free, bob)).toBe(first);
    expect(await plan({}, first, free, bob)).toBe(first);
    const second = await plan({ settings: { a: 1 } }, first, free, bob);
    expect(second).toMatchObject({ version: 2, given: { a: 1 }, changedBy: 'bob' });
    expect(await plan({ settings: {} }, second)).toMatchObject({ version: 3, given: {}, effective: {} });
  });

  test('replaces the settings as a whole, and does not merge them with those that were there', async () => {
    const first = await plan({ settings: { title: 'Mine', workers: [] } }, null, strict);
    const second = await plan({ settings: { workers: [{ port: 80 }] } }, first, strict);
    expect(second.effective).toEqual({ title: 'My blog', workers: [{ port: 80 }] });
  });

  test('distinguishes a value from its text, an empty list from none, and nearly equal numbers', async () => {
    const first = await plan({ settings: { a: 1 } });
    for (const a of ['1', 1.0000001, true, null, [], {}, [1]]) {
      expect((await plan({ settings: { a } }, first)).version, JSON.stringify(a)).toBe(2);
    }
  });

  test('EN-76 follows when a new default arrives with the formula’s version, and not when everything is set', async () => {
    const plain = await plan({}, null, strict);
    expect(await plan({}, plain, later)).toMatchObject({
      ...{ version: 2, given: {}, effective: { title: 'New' }, formulaVersion: '2.0.0.0' },
    });
    const own = await plan({ settings: { title: 'Own' } }, null, strict);
    expect(await plan({}, own, later)).toBe(own);
  });

  test('that a service does not have is a fault of the portal', async () => {
    await expect(readSettings(stage.ctx.db, serviceId, 7)).rejects.toThrow(`service ${serviceId} has no settings 7`);
  });
});

describe('EN-64 protected settings', () => {
  test('are encrypted, and not a part of the other half', async () => {
    const row = await plan({ settings: { a: 1 }, protectedSettings: password });
    expect(opened(row)).toEqual(password);
    expect(JSON.stringify([row.given, row.effective, row.secretFingerprint])).not.toContain('hunter2');
    expect(row.secret?.includes('hunter2')).toBe(false);
  });

  test('are kept, replaced as a whole, and removed', async () => {
    const first = await plan({ protectedSettings: { ...password, user: 'wp' } });
    const kept = await plan({ settings: { a: 1 } }, first);
    expect([kept.version, opened(kept)]).toEqual([2, { ...password, user: 'wp' }]);
    const replaced = await plan({ protectedSettings: { user: 'wp' } }, kept);
    expect([replaced.version, opened(replaced), replaced.given]).toEqual([3, { user: 'wp' }, { a: 1 }]);
    const removed = await plan({ protectedSettings: null }, replaced);
    expect(removed).toMatchObject({ version: 4, secret: null, secretFingerprint: null, secretSetBy: null });
    expect(await plan({ protectedSettings: null }, removed)).toBe(removed);
  });

  test('that are entered again in another order make no new version', async () => {
    const first = await plan({ protectedSettings: { ...password, user: 'wp' } });
    expect(await plan({ protectedSettings: { user: 'wp', ...password } }, first, free, bob)).toBe(first);
  });

  test('that are empty differ from none', async () => {
    const first = await plan({});
    const empty = await plan({ protectedSettings: {} }, first);
    expect([empty.version, opened(empty)]).toEqual([2, {}]);
    expect(await plan({ protectedSettings: null }, empty)).toMatchObject({ version: 3, secret: null });
  });

  test('are those of the person who entered them, even after another person changed the other half', async () => {
    const first = await plan({ protectedSettings: password });
    const other = await plan({ settings: { a: 1 } }, first, free, bob);
    expect(first.secretSetBy).not.toBeNull();
    expect(other).toMatchObject({ changedBy: 'bob', secretSetBy: first.secretSetBy });
    const same = await plan({ settings: { a: 2 }, protectedSettings: password }, other, free, bob);
    expect(same.secretSetBy).toBe(first.secretSetBy);
    const own = await plan({ protectedSettings: { password: 'mine' } }, same, free, bob);
    expect(own.secretSetBy).not.toBe(first.secretSetBy);
  });

  test('are rejected without custody, and those from before need to be removed', async () => {
    const first = await plan({ protectedSettings: password });
    const ctx = { ...ada, config: { ...ada.config, custody: 'vm' as const } };
    for (const given of [{ protectedSettings: {} }, { settings: { a: 1 } }]) {
      const rejected = plan(given, first, free, ctx);
      await expect(rejected).rejects.toMatchObject({ kind: 'unprocessable', code: 'protected_needs_custody' });
    }
    expect(await plan({ protectedSettings: null }, first, free, ctx)).toMatchObject({ version: 2, secret: null });
    expect(await plan({ settings: { a: 1 } }, null, free, ctx)).toMatchObject({ version: 1 });
  });
});

describe('EN-77 settings that break the schema', () => {
  test.each<[string, GivenServiceSettings, string[]]>([
    ['an unknown key', { settings: { colour: 'red' } }, ['/settings/colour']],
    ['a wrong type', { settings: { title: 1 } }, ['/settings/title']],
    ['a text that is too long', { settings: { title: 'x'.repeat(11) } }, ['/settings/title']],
    ['an element of a list', { settings: { workers: [{ port: 1 }, { port: 70_000 }] } }, ['/settings/workers/1/port']],
    ['several keys', { settings: { title: 1, workers: 2 } }, ['/settings/title', '/settings/workers']],
  ])('are rejected for %s', async (_, given, paths) => {
    expect((await faultsOf(given)).map((fault) => fault.split(' ')[0]).sort()).toEqual(paths);
  });

  test('are rejected in both halves together, without a name or a value of the protected half', async () => {
    const rejected = plan({ settings: { colour: 'red' }, protectedSettings: { secretName: 'hunter2' } }, null, strict);
    const error = await rejected.catch((thrown: { faults: { path: string }[] }) => thrown);
    const text = JSON.stringify(error);
    expect(text).toContain('/settings/colour');
    expect(text).toContain('/protectedSettings');
    expect(text).not.toMatch(/hunter2|secretName/);
  });

  test('EN-57 are rejected when the formula’s version changes, even if they are kept', async () => {
    const long = await plan({ settings: { title: 'Mine' }, protectedSettings: password }, null, strict);
    const paths = (await faultsOf({}, long, later)).map((fault) => fault.split(' ')[0]);
    expect(paths).toEqual(expect.arrayContaining(['/settings/title', '/protectedSettings']));
    expect(await faultsOf({ settings: { title: 'Own' }, protectedSettings: { pin: 1 } }, long, later)).toEqual([]);
  });

  test('are rejected without a protected key that the schema requires', async () => {
    const protectedSettings = object({ password: { type: 'string' } }, { required: ['password'] });
    const schema = { ...strict.settingsSchema, protectedSettings };
    const needy = { ...strict, settingsSchema: schema };
    const required = expect.stringMatching(/^\/protectedSettings\/password /);
    expect(await faultsOf({}, null, needy)).toEqual([required]);
    expect(await faultsOf({ protectedSettings: password }, null, needy)).toEqual([]);
  });

  test('are not checked again in the protected half that is kept with the version', async () => {
    const first = await plan({ protectedSettings: { pin: 1 } });
    const kept = { ...first, formulaVersion: strict.version };
    expect(await faultsOf({ settings: { title: 'x' } }, kept)).toEqual([]);
    expect(await faultsOf({ protectedSettings: { pin: 1 } }, kept)).not.toEqual([]);
  });
});

describe('settings as documents', () => {
  test.each<[string, GivenServiceSettings, string]>([
    ['64,001 bytes', { settings: { a: 'x'.repeat(63_993) } }, '/settings settings_too_large'],
    ['fewer characters than bytes', { settings: { a: 'ä'.repeat(32_000) } }, '/settings settings_too_large'],
    ['protected bytes', { protectedSettings: { a: 'x'.repeat(64_000) } }, '/protectedSettings settings_too_large'],
    ['a character in a list', { settings: { a: ['x', 'y\u0000'] } }, '/settings/a/1 json_character'],
    ['a protected character', { protectedSettings: { a: '\u0000' } }, '/protectedSettings/a json_character'],
  ])('are rejected for %s, before the schema is looked at', async (_, given, fault) => {
    expect(await faultsOf(given, null, strict)).toEqual([fault]);
  });

  test('may have exactly 64,000 bytes', async () => {
    expect(await faultsOf({ settings: { a: 'x'.repeat(63_992) } }, null, free)).toEqual([]);
  });
});

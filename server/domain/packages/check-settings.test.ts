import { describe, expect, test } from 'vitest';
import type { SettingsSchema } from '#db/schema/index.ts';
import en from '#locales/en/errors.json' with { type: 'json' };
import { loadConfig } from '#server/platform/env.ts';
import { defaultLimits } from '#server/platform/limits.ts';
import { ProcessMemory } from '#server/platform/process-memory.ts';
import { checkSettings, type GivenSettings } from './check-settings.ts';
import { schemaFaults } from './schema/schema-faults.ts';
import { compileSchema, settingFaults } from './schema/setting-faults.ts';

const services = { config: loadConfig({}), memory: new ProcessMemory() };

const check = (schema: SettingsSchema | null, settings: GivenSettings) => checkSettings(services, schema, settings);

describe('AZ-C1 settings are checked against the publisher’s schema before they enter a goal state', () => {
  const schema: SettingsSchema = {
    publicSettings: {
      type: 'object',
      required: ['url'],
      additionalProperties: false,
      properties: {
        url: { type: 'string', format: 'uri' },
        port: { type: 'integer', minimum: 1, maximum: 65535 },
        level: { enum: ['low', 'high'] },
        name: { type: 'string', minLength: 2, maxLength: 4, pattern: '^[a-z]+$' },
        list: { type: 'array', maxItems: 1 },
      },
    },
    protectedSettings: {
      type: 'object',
      required: ['password'],
      additionalProperties: false,
      properties: { password: { type: 'string', minLength: 8 }, pin: { enum: ['1234'] } },
    },
  };

  test('names each violation of the public half by its path', async () => {
    const publicSettings = { port: 0, level: 'x', name: 'ABCDE', list: [1, 2], 'a/b': 1 };
    expect(await check(schema, { publicSettings })).toEqual([
      { path: '/publicSettings/url', code: 'setting_required' },
      { path: '/publicSettings/a~1b', code: 'setting_unknown' },
      { path: '/publicSettings/port', code: 'setting_minimum', params: { limit: 1 } },
      { path: '/publicSettings/level', code: 'setting_choice', params: { choices: 'low, high' } },
      { path: '/publicSettings/name', code: 'setting_long', params: { limit: 4 } },
      { path: '/publicSettings/name', code: 'setting_pattern', params: { pattern: '^[a-z]+$' } },
      { path: '/publicSettings/list', code: 'setting_keyword', params: { keyword: 'maxItems' } },
    ]);
    expect(await check(schema, { publicSettings: { url: 'not a url', port: 'x' } })).toEqual([
      { path: '/publicSettings/url', code: 'setting_format', params: { format: 'uri' } },
      { path: '/publicSettings/port', code: 'setting_type', params: { type: 'integer' } },
    ]);
  });

  test('AZ-C2 names only path and keyword in the protected half, never a value or unknown name', async () => {
    const protectedSettings = { password: 'hunter2', pin: '9876', 'my-secret-key': 1 };
    const faults = await check(schema, { publicSettings: { url: 'https://example.org' }, protectedSettings });
    expect(faults).toEqual([
      { path: '/protectedSettings', code: 'protected_setting', params: { keyword: 'additionalProperties' } },
      { path: '/protectedSettings/password', code: 'protected_setting', params: { keyword: 'minLength' } },
      { path: '/protectedSettings/pin', code: 'protected_setting', params: { keyword: 'enum' } },
    ]);
    expect(JSON.stringify(faults)).not.toMatch(/hunter2|9876|1234|my-secret-key/);
    expect(await check(schema, { publicSettings: { url: 'https://example.org' }, protectedSettings: {} })).toEqual([
      { path: '/protectedSettings/password', code: 'protected_setting', params: { keyword: 'required' } },
    ]);
  });

  test('does not check kept protected settings; removed settings count as empty', async () => {
    const publicSettings = { url: 'https://example.org' };
    expect(await check(schema, { publicSettings })).toEqual([]);
    expect(await check(schema, { publicSettings, protectedSettings: null })).toMatchObject([
      { path: '/protectedSettings/password' },
    ]);
  });

  test('accepts any settings without a schema; with a schema, protected settings need their part of it', async () => {
    expect(await check(null, { publicSettings: { a: 1 }, protectedSettings: { b: 2 } })).toEqual([]);
    const publicOnly = { publicSettings: true };
    expect(await check(publicOnly, { publicSettings: { a: 1 } })).toEqual([]);
    expect(await check(publicOnly, { protectedSettings: null })).toEqual([]);
    expect(await check(publicOnly, { protectedSettings: { b: 2 } })).toEqual([
      { path: '/protectedSettings', code: 'protected_not_accepted' },
    ]);
    expect(await check({ protectedSettings: true }, { publicSettings: { a: 1 }, protectedSettings: { b: 2 } })).toEqual(
      [],
    );
  });

  test('stops a pattern that never ends, while this thread stays responsive', async () => {
    const endless = { publicSettings: { properties: { a: { pattern: '^(a+)+$' } } } };
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    const limits = { ...defaultLimits, settings: { ...defaultLimits.settings, checkMs: 1000 } };
    const impatient = { ...services, config: { ...services.config, limits } };
    const faults = await checkSettings(impatient, endless, { publicSettings: { a: `${'a'.repeat(40)}b` } });
    clearInterval(timer);
    expect(faults).toEqual([{ path: '', code: 'schema_slow', params: { seconds: 1 } }]);
    expect(ticks).toBeGreaterThan(50);
  });

  test('does not accept properties of the prototype as settings', () => {
    expect(settingFaults(compileSchema({ required: ['constructor'] }), {}, false)).toEqual([
      { path: '/constructor', code: 'setting_required' },
    ]);
    const strict = { additionalProperties: false };
    expect(settingFaults(compileSchema(strict), JSON.parse('{"__proto__":1}'), false)).toEqual([
      { path: '/__proto__', code: 'setting_unknown' },
    ]);
  });

  test('lists a hundred violations and counts the rest', () => {
    const faults = settingFaults(
      compileSchema({ items: { type: 'string' } }),
      Array.from({ length: 150 }, () => 1),
      false,
    );
    expect(faults).toHaveLength(101);
    expect(faults.at(-1)).toEqual({ path: '', code: 'more_faults', params: { count: 50 } });
  });
});

describe('AZ-P7 a publisher’s schema is checked when it is set', () => {
  test.each<[string, unknown]>([
    ['true', true],
    ['nothing', {}],
    ['definitions of its own', { $defs: { port: { type: 'integer' } }, properties: { a: { $ref: '#/$defs/port' } } }],
    [
      'an id of its own',
      {
        $id: 'https://acme.example/s',
        $defs: { a: { $id: 'https://acme.example/a' } },
        $ref: 'https://acme.example/a',
      },
    ],
    [
      'recursion through items',
      { $defs: { tree: { items: { anyOf: [{ $ref: '#/$defs/tree' }, true] } } }, $ref: '#/$defs/tree' },
    ],
    [
      'one schema referred to twice',
      { $defs: { a: true, b: { type: 'string' } }, allOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/b' }] },
    ],
    ['recursion', { properties: { child: { $ref: '#' } } }],
    ['the draft named', { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [true] }],
    ['keywords of others', { 'x-secret': true, properties: { a: { title: 'A', 'ui:widget': 'text' } } }],
    [
      'a property that is named $ref',
      { properties: { $ref: { type: 'string' } }, default: { $ref: 'https://example.org' } },
    ],
    ['formats', { properties: { a: { format: 'email' }, b: { format: 'of-my-own' } } }],
  ])('%s is accepted', (_, schema) => {
    expect(schemaFaults(schema)).toEqual([]);
  });

  test.each<[string, unknown, string, keyof typeof en]>([
    ['text', 'x', '', 'schema_form'],
    ['an array', [], '', 'schema_form'],
    ['an unknown type', { properties: { a: { type: 'text' } } }, '/properties/a/type', 'schema_keyword'],
    ['a pattern that is none', { properties: { a: { pattern: '(' } } }, '/properties/a/pattern', 'schema_pattern'],
    ['a pattern as a name that is none', { patternProperties: { '[': true } }, '/patternProperties', 'schema_pattern'],
    ['another draft', { $schema: 'http://json-schema.org/draft-07/schema#' }, '/$schema', 'schema_draft'],
    ['a draft that is not text', { $schema: 7 }, '/$schema', 'schema_draft'],
    ['a remote reference', { allOf: [{ $ref: 'https://example.org/s' }] }, '/allOf/0/$ref', 'schema_reference'],
    ['a reference to a file', { $ref: 'other.json#/a' }, '/$ref', 'schema_reference'],
    ['a reference to nowhere', { $ref: '#/$defs/none' }, '', 'schema_compile'],
    ['a reference to itself', { $ref: '#' }, '/$ref', 'schema_loop'],
    [
      'a circle of two',
      { $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } } },
      '/$defs/b/allOf/0/$ref',
      'schema_loop',
    ],
    [
      'a circle by an anchor',
      { properties: { a: { $anchor: 'x', not: { $ref: '#x' } } } },
      '/properties/a/not/$ref',
      'schema_loop',
    ],
    [
      'a circle by an id',
      { $id: 'https://x.example/s', if: { $ref: 'https://x.example/s' } },
      '/if/$ref',
      'schema_loop',
    ],
    ['a circle by a condition', { dependentSchemas: { a: { $ref: '#' } } }, '/dependentSchemas/a/$ref', 'schema_loop'],
    ['an asynchronous schema', { $async: true }, '/$async', 'schema_keyword'],
  ])('%s is rejected', (_, schema, path, code) => {
    expect(schemaFaults(schema)).toEqual([{ path, code }]);
  });
});

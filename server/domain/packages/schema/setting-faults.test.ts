import { describe, expect, test } from 'vitest';
import en from '#locales/en/errors.json' with { type: 'json' };
import { compileSchema, settingFaults } from './setting-faults.ts';

const secret = 'hunter2';

/** A schema, a value that it does not allow, and the faults that this causes in public and in protected settings. */
type Case = [what: string, schema: unknown, value: unknown, open: object, hidden: object];
const hidden = (path: string, keyword: string) => ({ path, code: 'protected_setting', params: { keyword } });

const cases: Case[] = [
  ['nothing allowed', false, {}, { path: '', code: 'setting_keyword' }, hidden('', 'false schema')],
  [
    'a missing setting',
    { required: ['a b'] },
    {},
    { path: '/a b', code: 'setting_required' },
    hidden('/a b', 'required'),
  ],
  [
    'a setting that another one needs',
    { dependentRequired: { user: ['password'] } },
    { user: 'x' },
    { path: '/password', code: 'setting_required' },
    hidden('/password', 'dependentRequired'),
  ],
  [
    'an unknown setting',
    { additionalProperties: false },
    { [secret]: 1 },
    { path: `/${secret}`, code: 'setting_unknown' },
    hidden('', 'additionalProperties'),
  ],
  [
    'one that no branch evaluates',
    { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
    { a: 1, [secret]: 2 },
    { path: `/${secret}`, code: 'setting_unknown' },
    hidden('', 'unevaluatedProperties'),
  ],
  [
    'another type',
    { properties: { port: { type: ['integer', 'null'] } } },
    { port: secret },
    { path: '/port', code: 'setting_type', params: { type: 'integer,null' } },
    hidden('/port', 'type'),
  ],
  [
    'another word',
    { properties: { level: { enum: ['low', 2, null] } } },
    { level: secret },
    { path: '/level', code: 'setting_choice', params: { choices: 'low, 2, null' } },
    hidden('/level', 'enum'),
  ],
  [
    'another constant',
    { properties: { mode: { const: { a: 1 } } } },
    { mode: secret },
    { path: '/mode', code: 'setting_choice', params: { choices: '{"a":1}' } },
    hidden('/mode', 'const'),
  ],
  [
    'another form',
    { properties: { name: { pattern: '^[a-z]$' } } },
    { name: secret },
    { path: '/name', code: 'setting_pattern', params: { pattern: '^[a-z]$' } },
    hidden('/name', 'pattern'),
  ],
  [
    'another format',
    { properties: { at: { format: 'date-time' } } },
    { at: secret },
    { path: '/at', code: 'setting_format', params: { format: 'date-time' } },
    hidden('/at', 'format'),
  ],
  [
    'a number that is too small',
    { items: { minimum: 3 } },
    [3, 2],
    { path: '/1', code: 'setting_minimum', params: { limit: 3 } },
    hidden('/1', 'minimum'),
  ],
  [
    'a number that is too large',
    { items: { maximum: 3 } },
    [4],
    { path: '/0', code: 'setting_maximum', params: { limit: 3 } },
    hidden('/0', 'maximum'),
  ],
  [
    'a short text',
    { properties: { a: { minLength: 8 } } },
    { a: secret },
    { path: '/a', code: 'setting_short', params: { limit: 8 } },
    hidden('/a', 'minLength'),
  ],
  [
    'a long text',
    { properties: { a: { maxLength: 6 } } },
    { a: secret },
    { path: '/a', code: 'setting_long', params: { limit: 6 } },
    hidden('/a', 'maxLength'),
  ],
  [
    'another rule',
    { properties: { a: { uniqueItems: true } } },
    { a: [secret, secret] },
    { path: '/a', code: 'setting_keyword', params: { keyword: 'uniqueItems' } },
    hidden('/a', 'uniqueItems'),
  ],
  [
    'a name with a slash and a tilde',
    { properties: { 'a/b~c': { type: 'string' } } },
    { 'a/b~c': 1 },
    { path: '/a~1b~0c', code: 'setting_type' },
    hidden('/a~1b~0c', 'type'),
  ],
];

describe('AZ-C1 a violation of the publisher’s schema', () => {
  test.each(cases)('%s', (_, schema, value, open, closed) => {
    const validate = compileSchema(schema);
    const [found] = settingFaults(validate, value, false);
    expect(found).toMatchObject(open);
    expect(en).toHaveProperty([found?.code ?? '']);
    const faults = settingFaults(validate, value, true);
    expect(faults).toEqual([closed]);
    expect(JSON.stringify(faults)).not.toContain(secret);
  });

  test('both halves of a condition are one fault each, and the condition itself is not a fault', () => {
    const validate = compileSchema({ if: { not: { required: ['tls'] } }, else: { required: ['certificate'] } });
    expect(settingFaults(validate, {}, false)).toEqual([]);
    expect(settingFaults(validate, { tls: true }, false)).toEqual([{ path: '/certificate', code: 'setting_required' }]);
  });

  test('the same fault from two branches is listed once', () => {
    const branch = { required: ['a'] };
    const validate = compileSchema({ allOf: [branch, branch, { required: ['b'] }] });
    expect(settingFaults(validate, {}, false).map(({ path }) => path)).toEqual(['/a', '/b']);
    expect(settingFaults(validate, {}, true)).toEqual([hidden('/a', 'required'), hidden('/b', 'required')]);
  });

  test.each<[count: number, listed: number, rest: number | null]>([
    [100, 100, null],
    [101, 101, 1],
    [1_000, 101, 900],
  ])('%i of them: %i entries', (count, listed, rest) => {
    const validate = compileSchema({ items: { type: 'string' } });
    const faults = settingFaults(validate, Array(count).fill(1), false);
    expect(faults).toHaveLength(listed);
    expect(faults.at(-1)?.params?.count ?? null).toBe(rest);
  });

  test('a value may contain anything that the schema does not mention', () => {
    const validate = compileSchema({ properties: { port: { type: 'integer' } } });
    for (const value of [{}, { port: 80 }, { port: 80, other: 'x' }, [], 'text', null]) {
      expect(settingFaults(validate, value, false)).toEqual([]);
    }
  });
});

import { describe, expect, test } from 'vitest';
import { fillRunbook } from './fill-runbook.ts';
import { misplacedSecrets, misplacedValues, secretNames } from './parameters.ts';
import { leadingVersion, newestFirst } from './runbook.ts';

const secret = { type: 'string', writeOnly: true };

describe('a parameter is secret if its schema contains writeOnly', () => {
  test.each<[where: string, schema: object, names: string[]]>([
    ['at its top', { properties: { token: secret, who: { type: 'string' } } }, ['token']],
    ['in a property', { properties: { login: { properties: { password: secret } } } }, ['login']],
    ['in the items of an array', { properties: { logins: { items: { anyOf: [{}, secret] } } } }, ['logins']],
    [
      'behind a reference',
      { properties: { login: { $ref: '#/$defs/login' } }, $defs: { login: { properties: { password: secret } } } },
      ['login'],
    ],
    [
      'behind a reference with escaped characters',
      { properties: { a: { $ref: '#/$defs/a~1b%20c' } }, $defs: { 'a/b c': secret } },
      ['a'],
    ],
    ['behind an anchor', { properties: { a: { $ref: '#here' } }, $defs: { a: { $anchor: 'here', ...secret } } }, ['a']],
    ['in a property named like a keyword', { properties: { a: { properties: { default: secret } } } }, ['a']],
    [
      'behind a reference that cannot be decoded, which may lead anywhere',
      { properties: { a: { $ref: '#/%zz' }, b: {}, c: secret } },
      ['a', 'c'],
    ],
    ['of an inherited name', { properties: { a: { $ref: '#/constructor' }, b: secret } }, ['a', 'b']],
    ['nowhere', { properties: { a: { writeOnly: false }, b: true } }, []],
    ['of a loop', { properties: { a: { $ref: '#/properties/b' }, b: { $ref: '#/properties/a' } } }, []],
    ['of no object', { properties: [] }, []],
  ])('%s', (_where, schema, names) => {
    expect([...secretNames(schema as Record<string, unknown>)]).toEqual(names);
  });

  test('in a large schema that refers to itself everywhere, in time that grows with its size', () => {
    const names = Array.from({ length: 20_000 }, (_, n) => `p${n}`);
    const schema = { properties: Object.fromEntries(names.map((name) => [name, { $ref: '#' }])), last: secret };
    const began = performance.now();
    expect(secretNames(schema).size).toBe(names.length);
    expect(misplacedSecrets(schema)).toEqual([{ path: '/last', code: 'secret_place' }]);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test('a runbook without a schema has no secret parameters', () => {
    expect([...secretNames(null)]).toEqual([]);
  });
});

describe('writeOnly outside properties is a fault', () => {
  test.each<[schema: object, paths: string[]]>([
    [{ properties: { a: secret }, $defs: { b: secret } }, []],
    [{ writeOnly: true }, ['/writeOnly']],
    [{ patternProperties: { '^s': secret } }, ['/patternProperties']],
    [{ additionalProperties: secret }, ['/additionalProperties']],
    [{ allOf: [{ properties: { a: secret } }] }, ['/allOf']],
    [{ allOf: [{ $ref: '#/$defs/b' }], $defs: { b: { properties: { a: secret } } } }, ['/allOf']],
    [{ properties: { a: secret }, required: ['a'], allOf: [{ required: ['a'] }] }, []],
  ])('%j', (schema, paths) => {
    const faults = misplacedSecrets(schema as Record<string, unknown>);
    expect(faults).toEqual(paths.map((path) => ({ path, code: 'secret_place' })));
  });
});

describe('values in the wrong place', () => {
  const schema = { properties: { token: secret, who: {} } };

  test('case 42: a secret among the plain parameters, and one that is in both', () => {
    expect(misplacedValues(schema, { parameters: { token: 'x', who: 'w' }, secretParameters: {} })).toEqual([
      { path: '/parameters/token', code: 'parameter_secret' },
    ]);
    expect(misplacedValues(schema, { parameters: { who: 'w' }, secretParameters: { who: 'w', token: 'x' } })).toEqual([
      { path: '/secretParameters/who', code: 'parameter_twice' },
    ]);
  });

  test('any value without a schema', () => {
    expect(misplacedValues(null, { parameters: { 'a/b': 1 }, secretParameters: { c: 2 } })).toEqual([
      { path: '/parameters/a~1b', code: 'parameters_not_accepted' },
      { path: '/secretParameters/c', code: 'parameters_not_accepted' },
    ]);
    expect(misplacedValues(null, { parameters: {}, secretParameters: {} })).toEqual([]);
  });
});

describe('the plan of an execution', () => {
  const plan =
    '{"Name": "x", "FormatVersion": "2.0.0", "Version": "9.0.0", "Parameters": {"z": 1.0, "a": 1}, "Body": ""}';

  test('has the name and the version of the runbook, with the given parameters in place of the plan’s', () => {
    const filled = fillRunbook({ title: 'Rotate', version: '1.2.0', plan }, { a: 2, b: '"' });
    expect(JSON.parse(filled)).toEqual({
      ...{ FormatVersion: '2.0.0', Name: 'Rotate', Version: '1.2.0', Body: '' },
      Parameters: { z: 1, a: 2, b: '"' },
    });
  });

  test('keeps the notation of numbers', () => {
    expect(fillRunbook({ title: 'Rotate', version: '1.2.0', plan }, {})).toContain('"z":1.0');
  });

  test('treats __proto__ as a name like any other', () => {
    const given = JSON.parse('{"__proto__": {"polluted": true}}') as Record<string, unknown>;
    const filled = fillRunbook({ title: 'x', version: '1.0.0', plan: '{"FormatVersion":"2.0.0"}' }, given);
    expect(filled).toContain('"__proto__":{"polluted":true}');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('versions', () => {
  test('are ordered as semantic versions, and the newest published one leads', () => {
    const versions = [
      { version: '1.9.0', state: 'withdrawn' },
      { version: '1.10.0', state: 'published' },
      { version: '2.0.0', state: 'draft' },
      { version: '1.2.0', state: 'published' },
    ] as const;
    expect(newestFirst(versions).map(({ version }) => version)).toEqual(['2.0.0', '1.10.0', '1.9.0', '1.2.0']);
    expect(leadingVersion(versions)?.version).toBe('1.10.0');
    expect(leadingVersion(versions.filter(({ state }) => state !== 'published'))?.version).toBe('2.0.0');
    expect(leadingVersion([])).toBeUndefined();
  });
});

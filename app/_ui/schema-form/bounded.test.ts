import { expect, test } from 'vitest';
import { planForm } from './bounded.ts';

const object = (properties: Record<string, unknown>, rest: Record<string, unknown> = {}) => ({
  type: 'object',
  properties,
  ...rest,
});

test('keeps titles, names and types, and drops everything else', () => {
  const plan = planForm(
    object(
      {
        port: { type: 'integer', title: 'Port', default: 80, minimum: 1 },
        host: { type: 'string', pattern: '(a+)+$', format: 'uri', description: 'Where.' },
        hosts: { type: 'array', minItems: 1_000_000_000, items: { type: 'string' } },
      },
      { required: ['port', 'nothing'], allOf: [{ not: { minProperties: 9 } }] },
    ),
  );
  expect(plan?.schema).toEqual({
    type: 'object',
    required: ['port'],
    properties: {
      port: { type: 'integer', title: 'Port', 'x-default': 80 },
      host: { type: 'string', description: 'Where.' },
      hosts: { type: 'array', items: { type: 'string' } },
    },
  });
});

test('offers choices of enums, constants and titled alternatives, with their own types', () => {
  const plan = planForm(
    object({
      level: { enum: [1, 2, 'all'] },
      mode: { oneOf: [{ const: 'r', title: 'Read' }, { const: 'w' }] },
    }),
  );
  expect(plan?.schema.properties).toMatchObject({
    level: { 'x-choices': [{ value: 1, label: '1' }, { value: 2 }, { value: 'all' }] },
    mode: {
      'x-choices': [
        { value: 'r', label: 'Read' },
        { value: 'w', label: 'w' },
      ],
    },
  });
});

test('leaves settings to the JSON if a form would have to guess how to show them', () => {
  const plan = planForm(
    object({
      any: {},
      either: { anyOf: [{ type: 'string' }, { type: 'object' }] },
      map: { type: 'object', additionalProperties: { type: 'string' } },
      pair: { type: 'array', prefixItems: [{ type: 'string' }] },
      choice: { enum: [{ a: 1 }] },
    }),
  );
  expect(Object.values(plan?.uiSchema ?? {}).every((part) => part['ui:field'] === 'JsonOnly')).toBe(true);
});

test('returns nothing for a schema that describes no settings', () => {
  for (const schema of [true, false, null, [], {}, { type: 'string' }, object({})]) expect(planForm(schema)).toBeNull();
});

test('follows references inside the schema, and stops if a schema contains itself', () => {
  const plan = planForm({
    ...object({ tree: { $ref: '#/$defs/node', title: 'Tree' }, self: { $ref: '#' }, lost: { $ref: '#/$defs/none' } }),
    $defs: {
      node: object({ name: { type: 'string' }, child: { $ref: '#/$defs/node' } }),
      ring: { $ref: '#/$defs/ring' },
    },
  });
  expect(plan?.schema.properties).toMatchObject({
    tree: { title: 'Tree', properties: { name: { type: 'string' }, child: { 'x-json': true } } },
    self: { 'x-json': true },
    lost: { 'x-json': true },
  });
  expect(planForm({ $defs: { ring: { $ref: '#/$defs/ring' } }, $ref: '#/$defs/ring' })).toBeNull();
});

test('a hostile schema costs no more than a large schema', () => {
  const wide = object(
    Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`s${index}`, { type: 'string' }])),
  );
  expect(Object.keys(planForm(wide)?.schema.properties ?? {}).length).toBeLessThanOrEqual(300);

  // Each of the 60 levels refers to the next level twenty times, so the expanded schema would have 20^60 fields.
  const levels = Object.fromEntries(
    Array.from({ length: 60 }, (_, level) => [
      `l${level}`,
      object(
        Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`p${index}`, { $ref: `#/$defs/l${level + 1}` }])),
      ),
    ]),
  );
  const started = performance.now();
  expect(planForm({ $ref: '#/$defs/l0', $defs: levels })).not.toBeNull();
  expect(performance.now() - started).toBeLessThan(500);

  const names = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"a":{"type":"string"}}}');
  expect(Object.keys(planForm(names)?.schema.properties ?? {})).toEqual(['a']);
});

test('translated titles and descriptions replace those of the schema, even behind references and in lists', () => {
  const words: Record<string, { title?: string; description?: string }> = {
    '': { title: 'Einstellungen' },
    'proxy/host': { title: 'Rechner' },
    'disks/*': { description: 'Ein Datenträger.' },
  };
  const proxy = object({ host: { type: 'string', title: 'Host', description: 'Name.' } });
  const schema = object(
    {
      proxy: { $ref: '#/$defs/proxy' },
      other: { $ref: '#/$defs/proxy' },
      disks: { type: 'array', items: { type: 'string' } },
    },
    { $defs: { proxy } },
  );
  const host = { type: 'string', title: 'Host', description: 'Name.' };
  expect(planForm(schema, (path) => words[path.join('/')])?.schema).toMatchObject({
    title: 'Einstellungen',
    properties: {
      proxy: { properties: { host: { ...host, title: 'Rechner' } } },
      other: { properties: { host } },
      disks: { items: { description: 'Ein Datenträger.' } },
    },
  });
});

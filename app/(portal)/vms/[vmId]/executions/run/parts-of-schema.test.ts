import { expect, test } from 'vitest';
import { namesOf, partsOfSchema } from './parts-of-schema.ts';

const schema = {
  type: 'object',
  properties: {
    who: { type: 'string' },
    token: { type: 'string', title: 'API token', writeOnly: true },
  },
  required: ['who', 'token'],
  additionalProperties: false,
};

test('a secret parameter leaves the form and gets a separate field', () => {
  const { plain, hasPlain, secrets } = partsOfSchema(schema, ['token']);
  expect(plain).toEqual({ ...schema, properties: { who: { type: 'string' } }, required: ['who'] });
  expect(hasPlain).toBe(true);
  expect(secrets).toMatchObject([{ name: 'token', title: 'API token', isRequired: true, schema: { type: 'string' } }]);
});

test('a schema with secret parameters only has no form', () => {
  const only = { ...schema, properties: { token: schema.properties.token } };
  expect(partsOfSchema(only, ['token']).hasPlain).toBe(false);
  expect(partsOfSchema({ ...only, additionalProperties: true }, ['token']).hasPlain).toBe(true);
});

test('a secret parameter behind a reference keeps its title', () => {
  const referring = {
    type: 'object',
    properties: { token: { $ref: '#/$defs/secret' } },
    $defs: { secret: { type: 'string', title: 'Key', writeOnly: true } },
  };
  expect(partsOfSchema(referring, ['token']).secrets).toMatchObject([{ title: 'Key', isRequired: false }]);
});

test('the JSON of the parameters can contain the names that the schema defines or requires', () => {
  const properties = { who: {}, size: {} };
  expect(namesOf({ ...schema, properties, required: ['who', 'other', 'who'] })).toEqual({
    ...{ required: ['who', 'other'], optional: ['size'] },
  });
  expect(namesOf({})).toEqual({ required: [], optional: [] });
});

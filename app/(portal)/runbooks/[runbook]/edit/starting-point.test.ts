import { expect, test } from 'vitest';
import { nextVersion, schemaOf, startOfExecution, startOfNew } from './starting-point.ts';

test('the parameters of an execution become a schema with their types, and its secret parameters are required', () => {
  const schema = schemaOf({ who: 'Ada', days: 30, share: 0.5, force: false, hosts: ['a'], more: { a: 1 } }, ['token']);
  expect(schema).toEqual({
    type: 'object',
    properties: {
      who: { type: 'string', default: 'Ada' },
      days: { type: 'integer', default: 30 },
      share: { type: 'number', default: 0.5 },
      force: { type: 'boolean', default: false },
      hosts: { type: 'array', default: ['a'] },
      more: { type: 'object', default: { a: 1 } },
      token: { type: 'string', writeOnly: true },
    },
    required: ['token'],
    additionalProperties: false,
  });
});

test('the plan of an execution loses its ID and its stamp, and gives the runbook its title', () => {
  const plan = { FormatVersion: '2.0.0', ID: 'x', Stamp: 3, Name: 'Rotate', Body: 'return 1' };
  const start = startOfExecution(JSON.stringify(plan), { secretParameters: [], timeoutSeconds: 60 });
  expect(start).toMatchObject({ title: 'Rotate', version: '1.0.0', schema: '', timeoutSeconds: 60, draft: null });
  expect(JSON.parse(start.plan)).toEqual({ FormatVersion: '2.0.0', Name: 'Rotate', Body: 'return 1' });
});

test('a new runbook starts with a plan that reads the parameter of its schema', () => {
  const { plan, schema } = startOfNew();
  expect(JSON.parse(plan).Body).toContain('args.who');
  expect(JSON.parse(schema).properties).toHaveProperty('who');
});

test.each([
  ['1.2.4', '1.3.0'],
  ['2.0.0-rc.1', '2.1.0'],
  ['x', '1.0.0'],
])('after %s, %s is suggested', (version, next) => {
  expect(nextVersion(version)).toBe(next);
});

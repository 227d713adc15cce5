import { expect, test } from 'vitest';
import { earlierValues } from './earlier-values.ts';

const parameters = { type: 'object', properties: { who: { type: 'string' }, token: { writeOnly: true } } };
const plan = JSON.stringify({ Parameters: { who: 'Ada', token: 'x', old: 1 } });

test('the form takes over what the version still defines, and never a secret', () => {
  expect(earlierValues(plan, { parameters, secretParameters: ['token'] })).toEqual({ who: 'Ada' });
});

test('without named parameters in the schema, all values but the secrets are taken over', () => {
  expect(earlierValues(plan, { parameters: { type: 'object' }, secretParameters: ['token'] })).toEqual({
    who: 'Ada',
    old: 1,
  });
});

test.each([
  ['there is no earlier execution', null, parameters],
  ['the version accepts no parameters', plan, null],
  ['the plan has no parameters', '{}', parameters],
])('nothing is taken over if %s', (_, text, schema) => {
  expect(earlierValues(text, { parameters: schema, secretParameters: [] })).toEqual({});
});

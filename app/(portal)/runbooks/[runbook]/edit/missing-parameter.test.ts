import { expect, test } from 'vitest';
import { addParameter, missingParameter } from './missing-parameter.ts';

const schema = '{"type":"object","properties":{"who":{"type":"string"}},"additionalProperties":false}';

test.each([
  ['hello(args.who, args.whom)', 'whom'],
  ['hello(args.whom, args.whom)', 'whom'],
  ['hello(args.who)', null],
  ['hello(args.whom, args.when)', null],
  ['for name in args.keys():', null],
])('in %s, the schema lacks %s', (line, name) => {
  expect(missingParameter(line, schema)).toBe(name);
});

test('a parameter is added to a schema, even an empty one, and a malformed schema stays', () => {
  expect(JSON.parse(addParameter(schema, 'whom')).properties).toEqual({
    who: { type: 'string' },
    whom: { type: 'string' },
  });
  expect(JSON.parse(addParameter('', 'whom'))).toEqual({
    ...{ type: 'object', additionalProperties: false },
    properties: { whom: { type: 'string' } },
  });
  expect(addParameter('{', 'whom')).toBe('{');
  expect(addParameter('{"properties":[]}', 'whom')).toBe('{"properties":[]}');
  expect(addParameter(schema, 'who')).toBe(schema);
});

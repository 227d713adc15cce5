import { expect, test } from 'vitest';
import { readable, startingPlan, withoutIdentity } from './plan-text.ts';

test('a plan to run again loses its ID and stamp', () => {
  expect(JSON.parse(withoutIdentity('{"ID":"a","Stamp":5,"Body":"return 1"}'))).toEqual({ Body: 'return 1' });
});

test.each([
  ['without an ID', '{"Body": "return 1.0"}'],
  ['that is not JSON', '{"ID":'],
  ['that is not an object', '["ID"]'],
])('a plan %s stays exactly as it is', (_, text) => {
  expect(withoutIdentity(text)).toBe(text);
});

test('a plan on one line is formatted, and a plan on several lines is shown as it was written', () => {
  expect(readable('{"Body":"return 1"}')).toBe('{\n  "Body": "return 1"\n}');
  expect(readable(startingPlan)).toBe(startingPlan);
});

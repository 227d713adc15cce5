import { expect, test } from 'vitest';
import { mayRunPlans } from './may-run-plans.ts';

test('only operators with the grant, and admins, may run any plan', () => {
  expect(mayRunPlans({ role: 'admin', scripts: true })).toBe(true);
  expect(mayRunPlans({ role: 'operator', scripts: true })).toBe(true);
  expect(mayRunPlans({ role: 'operator', scripts: false })).toBe(false);
  expect(mayRunPlans({ role: 'publisher', scripts: true }), 'publishers only write runbooks').toBe(false);
  expect(mayRunPlans(null)).toBe(false);
});

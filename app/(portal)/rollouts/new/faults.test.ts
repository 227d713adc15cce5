import { expect, test } from 'vitest';
import type { ProblemFault } from '#app/_lib/problem.ts';
import { faultsOf } from './faults.ts';

const fault = (path: string, code = 'setting_required'): ProblemFault => ({ path, code, message: code });
const [size, password] = [fault('/change/parameters/size'), fault('/change/secretParameters/password')];

test.each<[string, readonly ProblemFault[], boolean, boolean]>([
  ['no fault', [], false, false],
  ['missing parameters', [size, password], false, true],
  ['missing parameters, after an attempt to continue', [size, password], true, false],
  ['a parameter with an invalid value', [size, fault('/change/parameters/count', 'setting_maximum')], false, false],
  ['a missing value of another field', [size, fault('/rings/0/name')], false, false],
])('%s', (_, all, insists, onlyOpen) => {
  expect(faultsOf(all, insists).onlyOpen).toBe(onlyOpen);
});

test('a fault is found at its path and below', () => {
  const faults = faultsOf([size, password]);
  expect(faults.at('/change/parameters/size')).toBe('setting_required');
  expect(faults.at('/change/parameters')).toBeUndefined();
  expect(faults.below('/change/secretParameters')).toEqual([password]);
  expect(faults.below('/change/secret')).toEqual([]);
});

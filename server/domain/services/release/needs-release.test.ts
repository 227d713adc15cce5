import { expect, test } from 'vitest';
import { type MachineOfUnit, needsRelease } from './needs-release.ts';

const enrolledAt = new Date('2026-11-01T12:00:00Z');
const secret = { hasSecret: true, setBy: 'user:ada' };
const machine = (more: Partial<MachineOfUnit>): MachineOfUnit => ({
  ...{ enrolledAt, issuerKey: 'user:eve', issuerIsAdmin: false, releasedMachineAt: null },
  ...more,
});

test.each<[string, Partial<MachineOfUnit>, boolean]>([
  ['another person issued the token', {}, true],
  ['the author issued the token', { issuerKey: 'user:ada' }, false],
  ['an admin issued the token', { issuerIsAdmin: true }, false],
  ['who issued the token is unknown', { issuerKey: null, issuerIsAdmin: true }, true],
  ['an admin released them to this machine', { releasedMachineAt: new Date(enrolledAt) }, false],
  ['an admin released them to an earlier machine', { releasedMachineAt: new Date(0) }, true],
  ['no machine enrolled yet', { enrolledAt: null }, false],
])('protected settings and a machine: %s', (_, more, withheld) => {
  expect(needsRelease(secret, machine(more))).toBe(withheld);
});

test('a service without protected settings needs no release, and unknown authors need one', () => {
  expect(needsRelease({ hasSecret: false, setBy: null }, machine({}))).toBe(false);
  expect(needsRelease({ hasSecret: null, setBy: null }, machine({}))).toBe(false);
  expect(needsRelease({ hasSecret: true, setBy: null }, machine({}))).toBe(true);
});

import { describe, expect, test } from 'vitest';
import type { GoalStateExtension } from '#protocol/index.ts';
import { fingerprintOf, inFourParts, stockExtensions, wireNameOf } from './stock-goal-state.ts';

test.each([
  ['1', '1.0.0.0'],
  ['1.2', '1.2.0.0'],
  ['1.2.3.4', '1.2.3.4'],
  ['none', 'none'],
])('version %s is %s to the agent', (version, expected) => {
  expect(inFourParts(version)).toBe(expected);
});

test('names that the agent rejects are replaced by unique names', () => {
  expect(wireNameOf('first_1')).toBe('first_1');
  const [dot, dash] = [wireNameOf('a.b'), wireNameOf('a-b')];
  expect(dot).toMatch(/^a_b_[0-9a-f]{8}$/);
  expect(dash).toMatch(/^a_b_[0-9a-f]{8}$/);
  expect(dot).not.toBe(dash);
});

describe('the fingerprint', () => {
  const timeouts = { install: 1, update: 1, enable: 1, disable: 1, uninstall: 1 };
  const of = (...changes: Partial<GoalStateExtension>[]) =>
    fingerprintOf(
      stockExtensions(
        {
          extensions: changes.map((change, index) => ({
            ...{ name: `e${index}`, handler: 'Acme.Lab.Probe', version: '1.0', state: 'enabled', sequenceNumber: 1 },
            ...{ dependsOn: [], timeouts, package: { sha256: 'a', size: 1, url: '/' }, settings: {} },
            ...change,
          })),
        },
        () => ({ reportsHeartbeat: false, supportsMultipleExtensions: true }),
        true,
      ),
    );
  const base = of({}, {});

  test.each<[string, Partial<GoalStateExtension>]>([
    ['a sequence number', { sequenceNumber: 2 }],
    ['a version', { version: '1.1' }],
    ['a state', { state: 'disabled' }],
    ['an uninstall', { state: 'uninstall' }],
    ['settings', { settings: { publicSettings: { a: 1 } } }],
    ['settings that are sealed for another key', { settings: { protectedSettingsCertThumbprint: 'B' } }],
    ['another level', { dependsOn: ['e0'] }],
    ['other bytes', { package: { sha256: 'b', size: 1, url: '/' } }],
  ])('differs with %s', (_, change) => {
    expect(of({}, change)).not.toBe(base);
  });

  test.each<[string, Partial<GoalStateExtension>]>([
    ['another time-out', { timeouts: { ...timeouts, enable: 2 } }],
    ['the same version in another spelling', { version: '1.0.0.0' }],
    ['a dependency on something that is not there', { dependsOn: ['gone'] }],
  ])('is the same with %s', (_, change) => {
    expect(of({}, change)).toBe(base);
  });

  test('is the same after an uninstalled extension has left', () => {
    expect(of({}, { state: 'uninstall', sequenceNumber: 2 })).toBe(of({}));
  });
});

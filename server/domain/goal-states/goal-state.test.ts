import { describe, expect, test } from 'vitest';
import { canonicalJson, defaultTimeouts, effectOf, etagOf, renderGoalState } from './goal-state.ts';

const declared = {
  name: 'probe',
  handler: 'Acme.Lab.Probe',
  requestedVersion: '1.0.0.0',
  version: '1.0.0.0',
  state: 'enabled' as const,
  autoUpgradeMinorVersion: false,
  dependsOn: ['mount', 'net'],
  timeouts: defaultTimeouts,
  publicSettings: { port: 1, hosts: ['a', 'b'] },
  secretId: 's1' as string | null,
};

describe('the effect of a change on the agent', () => {
  const cases: [string, Partial<typeof declared>, ReturnType<typeof effectOf>][] = [
    ['nothing', {}, 'none'],
    ['the same settings in another order', { publicSettings: { hosts: ['a', 'b'], port: 1 } }, 'none'],
    ['the same dependencies in another order', { dependsOn: ['net', 'mount'] }, 'none'],
    ['the version', { version: '1.1.0.0' }, 'sequence'],
    ['public settings', { publicSettings: { port: 2, hosts: ['a', 'b'] } }, 'sequence'],
    ['the order within a list of the settings', { publicSettings: { port: 1, hosts: ['b', 'a'] } }, 'sequence'],
    ['protected settings', { secretId: 's2' }, 'sequence'],
    ['protected settings removed', { secretId: null }, 'sequence'],
    ['dependencies', { dependsOn: [] }, 'incarnation'],
    ['a time-out', { timeouts: { ...defaultTimeouts, enable: 10 } }, 'incarnation'],
    ['automatic upgrade', { autoUpgradeMinorVersion: true }, 'incarnation'],
  ];
  test.each(cases)('%s', (_, change, effect) => {
    expect(effectOf(declared, { ...declared, ...change })).toBe(effect);
  });

  test('another state, and a first declaration, run the handler', () => {
    expect(effectOf(declared, { ...declared, state: 'disabled' })).toBe('sequence');
    expect(effectOf(undefined, declared)).toBe('sequence');
  });
});

test('an unchanged goal state renders to the same bytes', () => {
  const packages = new Map([['Acme.Lab.Probe 1.0.0.0', { sha256: 'ab', size: 3 }]]);
  const sealed = new Map([['s1', { cms: Buffer.from('sealed'), thumbprint: 'AA' }]]);
  const render = () =>
    renderGoalState({ vmId: 'vm', incarnation: 7, turn: 9 }, [{ ...declared, sequenceNumber: 3 }], packages, sealed);
  expect(render()).toBe(render());
  expect(JSON.parse(render())).toEqual({
    protocol: 1,
    vmId: 'vm',
    incarnation: 7,
    turn: 9,
    extensions: [
      {
        name: 'probe',
        handler: 'Acme.Lab.Probe',
        version: '1.0.0.0',
        state: 'enabled',
        sequenceNumber: 3,
        dependsOn: ['mount', 'net'],
        timeouts: { install: 300, update: 300, enable: 300, disable: 300, uninstall: 300 },
        package: { sha256: 'ab', size: 3, url: '/agent/v1/packages/ab' },
        settings: {
          publicSettings: { port: 1, hosts: ['a', 'b'] },
          protectedSettings: Buffer.from('sealed').toString('base64'),
          protectedSettingsCertThumbprint: 'AA',
        },
      },
    ],
  });
});

test('omits an extension whose secrets are not encrypted for this certificate', () => {
  const packages = new Map([['Acme.Lab.Probe 1.0.0.0', { sha256: 'ab', size: 3 }]]);
  const text = renderGoalState(
    { vmId: 'vm', incarnation: 7, turn: 9 },
    [{ ...declared, sequenceNumber: 3 }],
    packages,
    new Map(),
  );
  expect(JSON.parse(text).extensions).toEqual([]);
});

test('ETags differ before and after a restore of the database', () => {
  expect(etagOf('one', 7)).not.toBe(etagOf('two', 7));
  expect(etagOf('one', 7)).toMatch(/^"[^"]+"$/);
});

test('canonical JSON does not depend on the order of properties', () => {
  expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: true })).toBe(
    canonicalJson({ a: true, b: [1, { c: 'x', d: null }] }),
  );
});

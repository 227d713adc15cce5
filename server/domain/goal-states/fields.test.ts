import { describe, expect, test } from 'vitest';
import type { ExtensionContents } from '#db/schema/index.ts';
import { differingFields } from './differing-fields.ts';
import { defaultTimeouts } from './goal-state.ts';
import { changesOf } from './plan.ts';
import { shownExtension, shownExtensions } from './shown-extension.ts';

const declared = (more: Partial<ExtensionContents> = {}): ExtensionContents => ({
  name: 'probe',
  handler: 'Acme.Lab.Probe',
  requestedVersion: '1.0',
  version: '1.0',
  state: 'enabled',
  autoUpgradeMinorVersion: false,
  dependsOn: ['a', 'b'],
  timeouts: defaultTimeouts,
  publicSettings: { port: 1, deep: { list: [1, 2], word: 'x' } },
  secretId: null,
  sequenceNumber: 1,
  ...more,
});

describe('the fields that differ', () => {
  test.each<[string, Partial<ExtensionContents>, string[]]>([
    ['none', {}, []],
    ['the sequence number is no declaration', { sequenceNumber: 9 }, []],
    ['the version in force', { version: '1.1' }, ['version']],
    ['the requested version', { requestedVersion: '1.1' }, ['requestedVersion']],
    ['the order of dependencies', { dependsOn: ['b', 'a'] }, []],
    ['a dependency less', { dependsOn: ['a'] }, ['dependsOn']],
    ['the order of properties', { publicSettings: { deep: { word: 'x', list: [1, 2] }, port: 1 } }, []],
    ['the order of a list', { publicSettings: { port: 1, deep: { list: [2, 1], word: 'x' } } }, ['publicSettings']],
    [
      'a number that became text',
      { publicSettings: { port: '1', deep: { list: [1, 2], word: 'x' } } },
      ['publicSettings'],
    ],
    ['null for a property', { publicSettings: { port: null, deep: { list: [1, 2], word: 'x' } } }, ['publicSettings']],
    ['secrets', { secretId: 'one' }, ['secretId']],
    ['one timeout', { timeouts: { ...defaultTimeouts, install: 301 } }, ['timeouts']],
    ['automatic upgrade', { autoUpgradeMinorVersion: true }, ['autoUpgradeMinorVersion']],
    ['the state', { state: 'disabled' }, ['state']],
    ['several', { version: '2.0', state: 'disabled' }, ['version', 'state']],
  ])('%s', (_, change, fields) => {
    expect([...differingFields(declared(), declared(change))]).toEqual(fields);
    expect([...differingFields(declared(change), declared())]).toEqual(fields);
  });
});

describe('the changes of a plan', () => {
  const lines = (before: ExtensionContents | undefined, after: ExtensionContents) =>
    changesOf(before, after).map((change) => {
      const side = (name: 'before' | 'after') => (name in change ? JSON.stringify(change[name]) : '-');
      return `${change.path}: ${side('before')} > ${side('after')}`;
    });
  const settings = (publicSettings: Record<string, unknown>) => declared({ publicSettings });

  test.each<[string, ExtensionContents, ExtensionContents, string[]]>([
    ['nothing', declared(), declared(), []],
    [
      'a nested property',
      settings({ a: { b: 1 } }),
      settings({ a: { b: 2 } }),
      ['/settings/publicSettings/a/b: 1 > 2'],
    ],
    [
      'a list as a whole',
      settings({ a: [1, 2] }),
      settings({ a: [1, 3] }),
      ['/settings/publicSettings/a: [1,2] > [1,3]'],
    ],
    ['a property that came', settings({}), settings({ a: null }), ['/settings/publicSettings/a: - > null']],
    ['a property that went', settings({ a: false }), settings({}), ['/settings/publicSettings/a: false > -']],
    [
      'an object for a value',
      settings({ a: 1 }),
      settings({ a: { b: 1 } }),
      ['/settings/publicSettings/a: 1 > -', '/settings/publicSettings/a/b: - > 1'],
    ],
    ['a name with a slash', settings({ 'a/b': 1 }), settings({ 'a/b': 2 }), ['/settings/publicSettings/a~1b: 1 > 2']],
    ['dependencies', declared(), declared({ dependsOn: ['c', 'a'] }), ['/dependsOn: ["a","b"] > ["a","c"]']],
    ['the order of dependencies', declared(), declared({ dependsOn: ['b', 'a'] }), []],
    ['a timeout', declared(), declared({ timeouts: { ...defaultTimeouts, update: 9 } }), ['/timeouts/update: 300 > 9']],
    ['secrets are not among them', declared(), declared({ secretId: 'one' }), []],
  ])('%s', (_, before, after, expected) => {
    expect(lines(before, after).sort()).toEqual(expected.sort());
  });

  test('of a new extension name each field once', () => {
    const found = changesOf(undefined, settings({ port: 1 }));
    expect(found.map(({ path }) => path)).toEqual([
      '/version',
      '/requestedVersion',
      '/state',
      '/autoUpgradeMinorVersion',
      '/dependsOn',
      ...['install', 'update', 'enable', 'disable', 'uninstall'].map((command) => `/timeouts/${command}`),
      '/settings/publicSettings/port',
    ]);
    expect(found.every((change) => !('before' in change))).toBe(true);
  });
});

test('AZ-C2 the activity shows public settings, and of secrets only the id of their encrypted copy', () => {
  expect(shownExtension(declared())).not.toHaveProperty('protectedSettings');
  expect(shownExtension(declared({ secretId: 'one' }))).toEqual({
    handler: 'Acme.Lab.Probe',
    version: '1.0',
    state: 'enabled',
    autoUpgradeMinorVersion: false,
    dependsOn: ['a', 'b'],
    timeouts: defaultTimeouts,
    publicSettings: { port: 1, deep: { list: [1, 2], word: 'x' } },
    protectedSettings: { $sealed: 'one' },
  });
  expect(Object.keys(shownExtensions([declared(), declared({ name: 'other' })]))).toEqual(['probe', 'other']);
});

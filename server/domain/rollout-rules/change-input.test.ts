import { describe, expect, test } from 'vitest';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { changeInput } from './change-input.ts';

const handler = 'Acme.Lab.Probe';
const set = { kind: 'set', handler, version: '1.1.0.0' };

/** The faults of a change, as `path code`. */
function faultsOf(change: Record<string, unknown>): string[] {
  try {
    parse(changeInput, change);
    return [];
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return error.faults.map(({ path, code }) => `${path} ${code}`);
  }
}

/** An object in an object in an object, as deep as given. */
const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return value;
};

describe('RO-3 fields that a kind of change has no use for', () => {
  const declarations = {
    version: '1.0',
    state: 'enabled',
    autoUpgradeMinorVersion: false,
    dependsOn: [],
    timeouts: {},
    publicSettings: { merge: {} },
    protectedSettings: null,
    onAbsent: 'install',
  };

  test.each(['remove', 'retry', 'revert'])('%s declares nothing', (kind) => {
    const faults = Object.keys(declarations).map((field) => `/${field} change_field_unused`);
    expect(faultsOf({ kind, handler, ...declarations })).toEqual(faults);
    expect(faultsOf({ kind, handler })).toEqual([]);
    expect(faultsOf({ kind, handler, version: null, timeouts: null, onAbsent: 'skip' })).toEqual([]);
  });

  test.each(['set', 'remove', 'retry'])('%s needs a handler, and has no time in the past', (kind) => {
    const version = kind === 'set' ? { version: '1.0' } : {};
    expect(faultsOf({ kind, ...version })).toEqual(['/handler field_missing']);
    expect(faultsOf({ kind, handler: null, ...version })).toEqual(['/handler field_missing']);
    expect(faultsOf({ kind, handler, ...version, asOf: '2026-03-01T12:00:00Z' })).toEqual([
      '/asOf change_field_unused',
    ]);
  });

  test('a revert may be of every handler, and to a time', () => {
    expect(faultsOf({ kind: 'revert' })).toEqual([]);
    expect(faultsOf({ kind: 'revert', asOf: '2026-03-01T12:00:00+01:00' })).toEqual([]);
    expect(faultsOf({ kind: 'revert', asOf: 'yesterday' })).toEqual(['/asOf field_format']);
  });
});

describe('RO-3 what a set declares', () => {
  test.each([
    ['null means that a field stays as it is', { version: null, state: null, publicSettings: null }, false],
    ['no field at all', {}, false],
    ['only leave to set a lower version', { allowLower: true }, false],
    ['only the removal of protected settings', { protectedSettings: null }, true],
    ['automatic upgrades off', { autoUpgradeMinorVersion: false }, true],
    ['no dependencies', { dependsOn: [] }, true],
    ['an empty replacement of settings', { publicSettings: { replace: {} } }, true],
  ])('%s', (_, fields, declares) => {
    expect(faultsOf({ kind: 'set', handler, ...fields })).toEqual(declares ? [] : [' change_empty']);
  });

  test('an install names the extension and its version, and both faults are shown', () => {
    const install = { kind: 'set', handler, onAbsent: 'install' };
    expect(faultsOf({ ...install, state: 'enabled' })).toEqual([
      '/extension extension_name_needed',
      '/version field_missing',
    ]);
    expect(faultsOf({ ...install, extension: 'probe', version: '1.0' })).toEqual([]);
  });

  test('absent extensions are skipped and lower versions are not set, unless the change says so', () => {
    expect(parse(changeInput, set)).toMatchObject({ onAbsent: 'skip', allowLower: false });
    expect(parse(changeInput, { ...set, allowLower: true }).allowLower).toBe(true);
  });

  test('settings are merged or replaced, and a null in a merge is kept, because it removes a setting', () => {
    const settings = (publicSettings: unknown) => parse(changeInput, { ...set, publicSettings }).publicSettings;
    expect(settings({ merge: { level: null } })).toEqual({ merge: { level: null } });
    expect(settings({ replace: {} })).toEqual({ replace: {} });
    expect(faultsOf({ ...set, publicSettings: {} })).toEqual(['/publicSettings settings_merge_or_replace']);
  });

  test('a dependency that is named twice is one', () => {
    expect(parse(changeInput, { ...set, dependsOn: ['base', 'agent', 'base'] }).dependsOn).toEqual(['base', 'agent']);
  });
});

test.each([
  ['a kind that does not exist', { ...set, kind: 'upgrade' }, '/kind field_choice'],
  ['a handler without a publisher', { ...set, handler: 'Probe' }, '/handler handler_form'],
  ['a version with a star', { ...set, version: '1.*' }, '/version version_form'],
  ['a version with a leading zero', { ...set, version: '1.01' }, '/version version_form'],
  ['a version of five numbers', { ...set, version: '1.2.3.4.5' }, '/version version_form'],
  ['an extension name that ends with a dot', { ...set, extension: 'probe.' }, '/extension extension_name_form'],
  ['an extension name with a space', { ...set, extension: 'my probe' }, '/extension extension_name_form'],
  ['an extension name with an invisible character', { ...set, extension: 'pro\u200bbe' }, '/extension text_invisible'],
  ['the state of a removal', { ...set, state: 'uninstalled' }, '/state field_choice'],
  ['a timeout of no seconds', { ...set, timeouts: { enable: 0 } }, '/timeouts/enable field_too_small'],
  ['a timeout of more than a day', { ...set, timeouts: { install: 86_401 } }, '/timeouts/install field_too_big'],
  ['a timeout of half a second', { ...set, timeouts: { update: 0.5 } }, '/timeouts/update field_not_integer'],
  ['a dependency that is not a name', { ...set, dependsOn: ['base', '-'] }, '/dependsOn/1 extension_name_form'],
  ['settings that are a list', { ...set, publicSettings: { merge: [] } }, '/publicSettings/merge field_not_object'],
  [
    'settings that are too deep',
    { ...set, publicSettings: { merge: nested(1_002) } },
    '/publicSettings/merge json_too_deep',
  ],
  ['secrets that are too deep', { ...set, protectedSettings: nested(1_002) }, '/protectedSettings json_too_deep'],
])('rejects %s', (_, change, fault) => {
  expect(faultsOf(change)).toEqual([fault]);
});

test('rejects a setting and a secret with the reserved name, which would be lost', () => {
  const reserved: unknown = JSON.parse('{"__proto__": 1}');
  expect(faultsOf({ ...set, publicSettings: { replace: reserved } })).toEqual([
    '/publicSettings/replace/__proto__ name_reserved',
  ]);
  expect(faultsOf({ ...set, protectedSettings: reserved })).toEqual(['/protectedSettings/__proto__ name_reserved']);
});

import { describe, expect, test } from 'vitest';
import { architectures } from '#protocol/platform.ts';
import { droppedPlatforms, executableLosses, manifestLosses, settingLosses } from './version-losses.ts';

const object = (properties: object, required: string[] = []) => ({ type: 'object', properties, required });
const text = { type: 'string' };
const of = (publicSettings: unknown, protectedSettings?: unknown) => ({
  settingsSchema: { publicSettings, ...(protectedSettings !== undefined && { protectedSettings }) },
});

describe('settingLosses', () => {
  test('lists removed settings, without the settings inside a removed setting', () => {
    const before = of(object({ kept: text, port: text, proxy: object({ host: text }) }), object({ key: text }));
    expect(settingLosses(before, of(object({ kept: text })))).toEqual({
      removed: ['/publicSettings/port', '/publicSettings/proxy', '/protectedSettings'],
      required: [],
    });
  });

  test('lists settings that are newly required, unless only a new optional object requires them', () => {
    const before = of(object({ a: text, b: text, proxy: object({ host: text }) }, ['a']));
    const proxy = object({ host: text }, ['host']);
    const after = of(object({ a: text, b: text, proxy, tls: object({ key: text }, ['key']) }, ['a', 'b']));
    const required = ['/publicSettings/b', '/publicSettings/proxy/host'];
    expect(settingLosses(before, after)).toEqual({ removed: [], required });
    const both = of(object({ tls: object({ key: text }, ['key']) }, ['tls']));
    expect(settingLosses(of(object({})), both).required).toEqual(['/publicSettings/tls', '/publicSettings/tls/key']);
  });

  test('follows references, allOf and the items of a list, even if they are recursive', () => {
    const node = { ...object({ name: text }), allOf: [{ properties: { next: { $ref: '#/$defs/node' } } }] };
    const before = of({ $ref: '#/$defs/list', $defs: { node, list: { items: { $ref: '#/$defs/node' } } } });
    const after = of({ items: { properties: { next: {} } } });
    expect(settingLosses(before, after).removed).toContain('/publicSettings/*/name');
    const odd = of({ $ref: 'https://x.test', allOf: 'x', required: 'x', properties: [], items: true });
    expect(settingLosses(odd, odd)).toEqual({ removed: [], required: [] });
  });

  test('lists what a new schema requires, and nothing if the schema was removed, because every setting is then accepted', () => {
    const none = { settingsSchema: null };
    expect(settingLosses(none, of(object({ a: text }, ['a']))).required).toEqual(['/publicSettings/a']);
    expect(settingLosses(of(object({ a: text })), none)).toEqual({ removed: [], required: [] });
  });
});

test('droppedPlatforms names an operating system, or its architectures', () => {
  expect(droppedPlatforms(null, null)).toEqual([]);
  expect(droppedPlatforms(null, [{ os: 'linux' }])).toEqual([{ os: 'windows' }, { os: 'darwin' }]);
  expect(droppedPlatforms([{ os: 'linux' }], null)).toEqual([]);
  const dropped = architectures.filter((arch) => arch !== 'x64').map((arch) => ({ os: 'linux', arch }));
  expect(droppedPlatforms([{ os: 'linux' }], [{ arch: 'x64' }])).toEqual(dropped);
});

test('manifestLosses names commands that are gone and flags that are no longer true', () => {
  const commands = { installCommand: 'i', uninstallCommand: 'u', updateCommand: 'p', enableCommand: 'e' };
  const manifest = (more: object) =>
    ({
      version: 1,
      handlerManifest: { ...commands, disableCommand: 'd', rebootAfterInstall: false, reportHeartbeat: false, ...more },
    }) as const;
  const before = manifest({ resetCommand: 'r', reportHeartbeat: true, supportsMultipleExtensions: true });
  expect(manifestLosses(before, manifest({ supportsMultipleExtensions: true }))).toEqual([
    'resetCommand',
    'reportHeartbeat',
  ]);
  expect(manifestLosses(manifest({}), before)).toEqual([]);
});

test('executableLosses names files that both packages contain and that are executable only in the earlier package', () => {
  const file = (name: string, mode: number | null) => ({ name, size: 1, mode });
  const before = [file('bin/a', 0o755), file('bin/b', 0o755), file('bin/c', 0o644), file('gone', 0o755)];
  const after = [file('bin/a', 0o644), file('bin/b', 0o755), file('bin/c', null)];
  expect(executableLosses(before, after)).toEqual(['bin/a']);
});

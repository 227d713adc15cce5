import { expect, test } from 'vitest';
import type { ExtensionContents } from '#db/schema/index.ts';
import { changesBetween, revertContents, revertTarget } from './changes.ts';

const timeouts = { install: 300, update: 300, enable: 300, disable: 300, uninstall: 300 };

function extension(name: string, more: Partial<ExtensionContents> = {}): ExtensionContents {
  return {
    name,
    handler: 'Acme.Lab.Probe',
    requestedVersion: '1.0.0',
    version: '1.0.0',
    state: 'enabled',
    autoUpgradeMinorVersion: false,
    dependsOn: [],
    timeouts,
    publicSettings: {},
    secretId: null,
    sequenceNumber: 1,
    ...more,
  };
}

const sentences = (before: ExtensionContents[], after: ExtensionContents[]) =>
  changesBetween(before, after).map(({ kind, extension: name, from, to, fields, fieldCount }) =>
    [
      name,
      kind,
      ...(from || to ? [`${from}→${to}`] : []),
      ...(fieldCount ? [`${fields.join('+')} of ${fieldCount}`] : []),
    ].join(' '),
  );

test.each<[string, Partial<ExtensionContents>, Partial<ExtensionContents>, string[]]>([
  ['nothing', {}, {}, []],
  ['a sequence number alone is nothing that was declared', {}, { sequenceNumber: 2 }, []],
  ['a version', {}, { version: '1.1.0', requestedVersion: '1.1.0' }, ['x version 1.0.0→1.1.0']],
  ['one short setting', { publicSettings: { s: 30 } }, { publicSettings: { s: 15 } }, ['x setting 30→15 s of 1']],
  ['a switch', { publicSettings: { s: true } }, { publicSettings: { s: false } }, ['x setting true→false s of 1']],
  ['a setting that came', {}, { publicSettings: { s: 15 } }, ['x settings s of 1']],
  ['a long value', { publicSettings: { s: 'a' } }, { publicSettings: { s: 'a'.repeat(25) } }, ['x settings s of 1']],
  ['a line break', { publicSettings: { s: 'a' } }, { publicSettings: { s: 'a\nb' } }, ['x settings s of 1']],
  ['a nested one', { publicSettings: { s: { a: 1 } } }, { publicSettings: { s: { a: 2 } } }, ['x settings s of 1']],
  ['more than can be named', {}, { publicSettings: { a: 1, b: 2, c: 3, d: 4 } }, ['x settings a+b+c of 4']],
  ['other secrets', { secretId: 'one' }, { secretId: 'two', sequenceNumber: 2 }, ['x secrets']],
  ['secrets that came', {}, { secretId: 'one' }, ['x secrets']],
  ['disabled', {}, { state: 'disabled' }, ['x disabled']],
  ['enabled again', { state: 'disabled' }, { state: 'enabled' }, ['x enabled']],
  ['uninstalled, whatever else', {}, { state: 'uninstall', version: '2.0.0', dependsOn: [] }, ['x uninstall']],
  ['dependencies', {}, { dependsOn: ['y'] }, ['x dependencies']],
  ['timeouts', {}, { timeouts: { ...timeouts, enable: 9 } }, ['x timeouts']],
  ['the way of upgrades', {}, { autoUpgradeMinorVersion: true }, ['x policy']],
  ['several', {}, { version: '2.0.0', secretId: 'one' }, ['x version 1.0.0→2.0.0', 'x secrets']],
])('names what changed: %s', (_, before, after, expected) => {
  expect(sentences([extension('x', before)], [extension('x', after)])).toEqual(expected);
});

test('names added and removed extensions', () => {
  expect(sentences([extension('x')], [extension('y')])).toEqual(['y added →1.0.0', 'x removed 1.0.0→']);
});

test('a revert omits extensions that were being uninstalled', () => {
  expect(revertContents([extension('x'), extension('y', { state: 'uninstall' })])).toEqual([extension('x')]);
});

test('the revert target is the goal state before the failing settings; null without the extension', () => {
  const good = extension('x');
  const bad = extension('x', { sequenceNumber: 2, publicSettings: { port: 1 } });
  const state = (incarnation: number, contents: ExtensionContents[]) => ({ incarnation, contents });
  const history = [state(5, [bad, extension('z')]), state(4, [bad]), state(3, [good]), state(2, [good]), state(1, [])];
  expect(revertTarget(history, 'x')).toBe(3);
  expect(revertTarget([state(2, [good]), state(1, [])], 'x')).toBeNull();
  expect(revertTarget([state(2, [bad]), state(1, [extension('x', { state: 'disabled' })])], 'x')).toBeNull();
  const retried = [state(6, [{ ...bad, sequenceNumber: 9 }]), ...history];
  expect(revertTarget(retried, 'x'), 'a retry changes nothing').toBe(3);
  expect(revertTarget(history, 'unknown')).toBeNull();
  expect(revertTarget([], 'x')).toBeNull();
});

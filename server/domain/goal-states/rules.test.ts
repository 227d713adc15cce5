import { beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import type { HandlerVersionRow, VersionRow } from '#server/domain/packages/index.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import {
  type ExtensionGoalInput,
  findVersion,
  protectedSchemaDigest,
  ruleFaults,
  settingsFaults,
  unprocessable,
} from './declare.ts';
import type { ExtensionRow } from './publish.ts';

const present = (name: string, more: Partial<ExtensionRow> = {}): ExtensionRow =>
  ({ name, handler: 'Lab.Other', version: '1.0', state: 'enabled', dependsOn: [], ...more }) as ExtensionRow;
const goalOf = (more: Partial<ExtensionGoalInput> = {}): ExtensionGoalInput => ({
  handler: 'Lab.Probe',
  version: '1.0',
  state: 'enabled',
  autoUpgradeMinorVersion: false,
  dependsOn: [],
  timeouts: {},
  settings: { publicSettings: {} },
  ...more,
});
const versionOf = (state: VersionRow['state'] = 'published', supportsMultipleExtensions = false, version = '1.0') =>
  ({
    version,
    state,
    manifest: { version: 1, handlerManifest: { supportsMultipleExtensions } },
  }) as unknown as HandlerVersionRow;

describe('the rules between an extension and the other extensions of its VM', () => {
  const sibling = present('second', { handler: 'Lab.Probe' });
  test.each<[string, Partial<ExtensionGoalInput>, ReturnType<typeof versionOf>, ExtensionRow[], string[]]>([
    ['a published version', {}, versionOf(), [], []],
    ['a draft', {}, versionOf('draft'), [], ['/version version_draft']],
    ['a withdrawn version', {}, versionOf('withdrawn'), [], ['/version version_withdrawn']],
    ['a withdrawn version that it has', {}, versionOf('withdrawn'), [present('probe', { handler: 'Lab.Probe' })], []],
    [
      'a withdrawn version that only a sibling has',
      {},
      versionOf('withdrawn', true),
      [sibling],
      ['/version version_withdrawn'],
    ],
    ['a second extension of a handler that allows one', {}, versionOf(), [sibling], ['/handler single_extension']],
    [
      'a second one while the first is uninstalled',
      {},
      versionOf(),
      [{ ...sibling, state: 'uninstall' }],
      ['/handler single_extension'],
    ],
    ['a second one in the same version', {}, versionOf('published', true), [sibling], []],
    [
      'a second one in another version',
      {},
      versionOf('published', true, '1.1'),
      [sibling],
      ['/version version_shared'],
    ],
    ['one of each handler', {}, versionOf(), [present('second')], []],
    ['a dependency', { dependsOn: ['disk'] }, versionOf(), [present('disk')], []],
    ['a disabled dependency', { dependsOn: ['disk'] }, versionOf(), [present('disk', { state: 'disabled' })], []],
    ['a dependency that is not there', { dependsOn: ['disk'] }, versionOf(), [], ['/dependsOn/0 dependency_unknown']],
    [
      'a dependency that is being uninstalled',
      { dependsOn: ['disk'] },
      versionOf(),
      [present('disk', { state: 'uninstall' })],
      ['/dependsOn/0 dependency_unknown'],
    ],
    ['itself as dependency', { dependsOn: ['probe'] }, versionOf(), [], ['/dependsOn dependency_circle']],
    [
      'a circle of three',
      { dependsOn: ['a'] },
      versionOf(),
      [present('a', { dependsOn: ['b'] }), present('b', { dependsOn: ['probe'] })],
      ['/dependsOn dependency_circle'],
    ],
    [
      'a circle through one that is being uninstalled',
      { dependsOn: ['a'] },
      versionOf(),
      [present('a', { dependsOn: ['b'] }), present('b', { dependsOn: ['probe'], state: 'uninstall' })],
      [],
    ],
    [
      'everything at once',
      { dependsOn: ['second', 'ghost'] },
      versionOf('draft'),
      [present('second', { handler: 'Lab.Probe', dependsOn: ['probe'] })],
      [
        '/version version_draft',
        '/handler single_extension',
        '/dependsOn/1 dependency_unknown',
        '/dependsOn dependency_circle',
      ],
    ],
  ])('%s', (_, goal, version, others, faults) => {
    const found = ruleFaults('probe', goalOf(goal), version, others);
    expect(found.map(({ path, code }) => `${path} ${code}`)).toEqual(faults);
  });

  test('the path of a cycle begins and ends with the extension that closes it', () => {
    const others = [present('a', { dependsOn: ['b'] }), present('b', { dependsOn: ['probe'] })];
    const [fault] = ruleFaults('probe', goalOf({ dependsOn: ['a'] }), versionOf(), others);
    expect(fault?.params).toEqual({ circle: 'probe → a → b → probe' });
  });

  test('a fault names the extension that already exists', () => {
    const [single] = ruleFaults('probe', goalOf(), versionOf(), [sibling]);
    expect(single?.params).toEqual({ handler: 'Lab.Probe', name: 'second' });
    const [shared] = ruleFaults('probe', goalOf(), versionOf('published', true, '1.1'), [sibling]);
    expect(shared?.params).toEqual({ name: 'second', version: '1.0' });
  });
});

describe('a rejection', () => {
  const one = { path: '/version', code: 'version_unknown' as const, params: { handler: 'A.B', version: '1' } };
  test('with one fault has its code and sentence', () => {
    expect(unprocessable([one])).toMatchObject({ kind: 'unprocessable', code: 'version_unknown', params: one.params });
  });
  test('with several faults lists them under the code invalid', () => {
    const faults = [one, { path: '/handler', code: 'single_extension' as const }];
    expect(unprocessable(faults)).toMatchObject({ code: 'invalid', params: {}, faults });
  });
});

test('only the protected half of a schema counts for kept secrets, in any order of its properties', () => {
  const digest = protectedSchemaDigest({ protectedSettings: { type: 'object', required: ['a'] } });
  expect(protectedSchemaDigest({ protectedSettings: { required: ['a'], type: 'object' } })).toBe(digest);
  expect(protectedSchemaDigest({ publicSettings: {}, protectedSettings: { type: 'object', required: ['a'] } })).toBe(
    digest,
  );
  expect(protectedSchemaDigest({ protectedSettings: { type: 'object', required: ['b'] } })).not.toBe(digest);
  expect(protectedSchemaDigest({ publicSettings: { type: 'object' } })).toBeNull();
  expect(protectedSchemaDigest(null)).toBeNull();
});

describe('with a registered version', () => {
  let ctx: Context;
  let open: VersionRow;
  let strict: VersionRow;

  beforeAll(async () => {
    ctx = await testContext({ role: 'operator' });
    await givenVersion(ctx.db, { handler: 'Lab.Open', version: '1.0.0.0' });
    await givenVersion(ctx.db, {
      handler: 'Lab.Strict',
      version: '1.0',
      settingsSchema: { protectedSettings: { type: 'object', required: ['token'] } },
    });
    open = await findVersion(ctx.db, goalOf({ handler: 'Lab.Open' }));
    strict = await findVersion(ctx.db, goalOf({ handler: 'Lab.Strict' }));
  });

  test.each([
    ['Lab.Open', '1', '1.0.0.0'],
    ['Lab.Open', '1.0', '1.0.0.0'],
    ['Lab.Open', '1.0.0.0', '1.0.0.0'],
    ['Lab.Open', '1.0.0.1', 'version_unknown'],
    ['Lab.Open', 'one', 'version_unknown'],
    ['lab.open', '1.0', 'version_unknown'],
    ['Lab.Nothing', '1.0', 'version_unknown'],
  ])('%s %s is %s', async (handler, version, expected) => {
    const found = findVersion(ctx.db, goalOf({ handler, version })).then(
      (row) => row.version,
      (error: { code: string }) => error.code,
    );
    expect(await found).toBe(expected);
  });

  test.each(['publicSettings', 'protectedSettings'] as const)('%s end at their limit, to the byte', async (half) => {
    const limit = ctx.config.limits.settings.halfBytes;
    const faults = async (length: number, letter = 'x') => {
      const value = { a: letter.repeat(length) };
      const found = await settingsFaults(ctx, open, goalOf({ settings: { publicSettings: {}, [half]: value } }), false);
      return found.map(({ path, code, params }) => [path, code, params]);
    };
    const frame = '{"a":""}'.length;
    const fault = [`/settings/${half}`, 'settings_too_large', { limit }];
    expect(await faults(limit - frame)).toEqual([]);
    expect(await faults(limit - frame + 1)).toEqual([fault]);
    expect(await faults((limit - frame) / 2, 'ä')).toEqual([]);
    expect(await faults((limit - frame) / 2 + 1, 'ä')).toEqual([fault]);
  });

  test.each<[string, ExtensionGoalInput['settings'], boolean, string[]]>([
    [
      'AZ-C1 missing ones are checked as empty',
      { publicSettings: {} },
      false,
      ['/settings/protectedSettings/token protected_setting'],
    ],
    ['kept ones are not checked', { publicSettings: {} }, true, []],
    [
      'removed ones are checked as empty, even where some are stored',
      { publicSettings: {}, protectedSettings: null },
      true,
      ['/settings/protectedSettings/token protected_setting'],
    ],
    ['given ones are checked', { publicSettings: {}, protectedSettings: { token: 1 } }, false, []],
  ])('protected settings: %s', async (_, settings, keeps, faults) => {
    const found = await settingsFaults(ctx, strict, goalOf({ settings }), keeps);
    expect(found.map(({ path, code }) => `${path} ${code}`)).toEqual(faults);
  });
});

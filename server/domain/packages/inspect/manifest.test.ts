import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultLimits } from '#server/platform/limits.ts';
import { buildZip, manifestOf, packageEntries, type ZipEntry } from '#server/testing/zip.ts';
import { checkCommands, commandLinesOf, placeOf, programOf } from './commands.ts';
import { readPackage } from './read-package.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'annex-manifest-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function inspect(...entries: ZipEntry[]) {
  const path = join(folder, 'upload');
  await writeFile(path, buildZip(entries));
  return readPackage(path, defaultLimits);
}

const withManifest = (manifest: string | Buffer) => inspect(...packageEntries(manifest));
const at = 'HandlerManifest.json';

/** The example manifest in the source document, unchanged. */
const sample = `[{
  "version": 1.0,
  "handlerManifest": {
    "installCommand": "./install.py",
    "uninstallCommand": "./uninstall.py",
    "updateCommand": "./update.py",
    "enableCommand": "./enable.py",
    "disableCommand": "./disable.py",
    "rebootAfterInstall": false,
    "reportHeartbeat": true
  }
}]`;

describe('AZ-P2 the manifest is in the root of the zip', () => {
  const manifest = { data: manifestOf() };
  test.each<[string, ZipEntry[], { path: string; code: string; params?: object }[]]>([
    ['absent', [{ name: 'install.sh' }], [{ path: at, code: 'manifest_absent' }]],
    ['in an empty zip', [], [{ path: at, code: 'manifest_absent' }]],
    [
      'only in a subfolder, and the fault says where',
      [{ name: 'probe/bin/HandlerManifest.json', ...manifest }],
      [{ path: `probe/bin/${at}`, code: 'manifest_in_folder', params: { folder: 'probe/bin' } }],
    ],
    [
      'in two subfolders',
      [
        { name: 'a/HandlerManifest.json', ...manifest },
        { name: 'b/handlermanifest.json', ...manifest },
      ],
      [
        { path: `a/${at}`, code: 'manifest_in_folder', params: { folder: 'a' } },
        { path: 'b/handlermanifest.json', code: 'manifest_in_folder', params: { folder: 'b' } },
      ],
    ],
    [
      'in another case',
      [{ name: 'handlermanifest.JSON', ...manifest }],
      [{ path: 'handlermanifest.JSON', code: 'manifest_spelling' }],
    ],
  ])('%s: rejected', async (_, entries, faults) => {
    expect(await inspect(...entries)).toEqual({ ok: false, faults });
  });

  test('a manifest in a subfolder is a regular file if there is a manifest in the root', async () => {
    expect(await inspect(...packageEntries(), { name: 'old/HandlerManifest.json', data: 'x' })).toMatchObject({
      ok: true,
    });
  });

  test('a manifest above the maximum size is rejected unread', async () => {
    const data = Buffer.concat([Buffer.alloc(defaultLimits.package.manifestBytes, ' '), Buffer.from(sample)]);
    expect(await inspect({ name: at, data, method: 0 })).toEqual({
      ok: false,
      faults: [{ path: at, code: 'manifest_too_large', params: { limit: defaultLimits.package.manifestBytes } }],
    });
  });
});

describe('AZ-P3 the manifest', () => {
  test('of the source document is accepted, with or without a byte-order mark', async () => {
    const read = await withManifest(`\ufeff${sample}`);
    expect(read).toMatchObject({ ok: true, manifest: JSON.parse(sample)[0], manifestText: sample });
  });

  test.each(['1.5.124', 1.1, '1.0', null])(
    'with version %j is accepted with a warning, because existing manifests have it',
    async (version) => {
      const [{ handlerManifest }] = JSON.parse(sample);
      const read = await withManifest(JSON.stringify([{ version, handlerManifest }]));
      expect(read).toMatchObject({
        ok: true,
        manifest: { version: 1 },
        warnings: expect.arrayContaining([{ path: `${at}#/0/version`, code: 'manifest_version' }]),
      });
    },
  );

  test('keeps additional fields', async () => {
    const fields = {
      updateMode: 'UpdateWithoutInstall',
      supportsMultipleExtensions: true,
      continueOnUpdateFailure: false,
      note: [1],
    };
    expect(await withManifest(manifestOf(fields))).toMatchObject({ ok: true, manifest: { handlerManifest: fields } });
  });

  test('accepts booleans as text in any case', async () => {
    const fields = {
      rebootAfterInstall: 'true',
      reportHeartbeat: 'False',
      supportsMultipleExtensions: 'True',
      continueOnUpdateFailure: 'false',
    };
    const flags = {
      rebootAfterInstall: true,
      reportHeartbeat: false,
      supportsMultipleExtensions: true,
      continueOnUpdateFailure: false,
    };
    expect(await withManifest(manifestOf(fields))).toMatchObject({ ok: true, manifest: { handlerManifest: flags } });
  });

  test('one response names every missing or ill-typed field', async () => {
    const manifest = [
      {
        handlerManifest: { installCommand: ' ', updateCommand: 5, enableCommand: null, rebootAfterInstall: 'no' },
      },
    ];
    const read = await withManifest(JSON.stringify(manifest));
    expect(read.ok ? [] : read.faults.map(({ path, code }) => [path.replace(`${at}#/0/`, ''), code])).toEqual([
      ['version', 'field_missing'],
      ['handlerManifest/installCommand', 'field_empty'],
      ['handlerManifest/uninstallCommand', 'field_missing'],
      ['handlerManifest/updateCommand', 'field_not_text'],
      ['handlerManifest/enableCommand', 'field_not_text'],
      ['handlerManifest/disableCommand', 'field_missing'],
      ['handlerManifest/rebootAfterInstall', 'field_not_boolean'],
      ['handlerManifest/reportHeartbeat', 'field_missing'],
    ]);
  });

  test.each<[string, string, string, string]>([
    ['{}', at, 'manifest_not_array', 'an object'],
    ['[]', at, 'manifest_not_single', 'an empty array'],
    [`[${sample.slice(1, -1)},{}]`, at, 'manifest_not_single', 'two objects'],
    ['[7]', `${at}#/0`, 'field_not_object', 'no object'],
    [sample.replace('true', 'true,'), at, 'json_malformed', 'a trailing comma'],
    [sample.replace('"version"', '"version":1.0,"version"'), `${at}#/0/version`, 'json_duplicate_key', 'a field twice'],
    ['', at, 'json_malformed', 'nothing'],
  ])('%# is rejected', async (text, path, code) => {
    const read = await withManifest(text);
    expect(read.ok ? [] : read.faults).toContainEqual(expect.objectContaining({ path, code }));
  });
});

describe('AZ-P4 command paths', () => {
  test.each<[string, string]>([
    ['./install.sh --all', './install.sh'],
    ['  bin/run\t-x', 'bin/run'],
    ['"my dir/run me.sh" -x', 'my dir/run me.sh'],
    ["'a b' c", 'a b'],
  ])('the program of %j is %j', (line, program) => {
    expect(programOf(line)).toBe(program);
  });

  test.each<[string, ReturnType<typeof placeOf>]>([
    ['./install.sh', { path: 'install.sh' }],
    ['bin\\run.cmd', { path: 'bin/run.cmd' }],
    ['bin/../install.sh', { path: 'install.sh' }],
    ['/bin/sh', { code: 'command_absolute' }],
    ['\\\\server\\share', { code: 'command_absolute' }],
    ['C:\\run.exe', { code: 'command_absolute' }],
    ['c:run.exe', { code: 'command_absolute' }],
    ['..', { code: 'command_escapes' }],
    ['../run', { code: 'command_escapes' }],
    ['bin/../../run', { code: 'command_escapes' }],
    ['..\\run', { code: 'command_escapes' }],
  ])('%j is %j', (program, place) => {
    expect(placeOf(program)).toEqual(place);
  });

  test('every absolute path, and every path outside of the package, is rejected', async () => {
    const manifest = manifestOf({ installCommand: '/bin/sh', updateCommand: '../run', enableCommand: '"open' });
    expect(await withManifest(manifest)).toEqual({
      ok: false,
      faults: [
        { path: `${at}#/0/handlerManifest/installCommand`, code: 'command_absolute', params: { program: '/bin/sh' } },
        { path: `${at}#/0/handlerManifest/updateCommand`, code: 'command_escapes', params: { program: '../run' } },
        { path: `${at}#/0/handlerManifest/enableCommand`, code: 'command_quotes' },
      ],
    });
  });

  test('a program that is missing or not executable is a warning', async () => {
    const read = await inspect(
      { name: 'HandlerManifest.json', data: manifestOf({ installCommand: 'python3 x.py', enableCommand: './run.sh' }) },
      { name: 'install.sh', data: '#!/bin/sh\r\nexit 0\r\n', mode: 0o100755 },
      { name: 'run.sh', data: '#!/bin/sh\n', mode: 0o100644 },
    );
    expect(read).toMatchObject({
      ok: true,
      warnings: [
        { path: 'install.sh', code: 'script_crlf' },
        {
          path: `${at}#/0/handlerManifest/installCommand`,
          code: 'command_program_absent',
          params: { program: 'python3' },
        },
        {
          path: `${at}#/0/handlerManifest/enableCommand`,
          code: 'command_not_executable',
          params: { program: 'run.sh' },
        },
      ],
    });
  });

  test('AZ-P5 several commands may use the same line', () => {
    const files = [{ name: 'install.sh', size: 1, mode: null }];
    expect(checkCommands(commandLinesOf(JSON.parse(manifestOf())), files)).toEqual({ faults: [], warnings: [] });
  });

  test('AZ-P4 a command outside of the package is reported together with a missing field', async () => {
    const [element] = JSON.parse(manifestOf({ disableCommand: '../shared/disable.sh' }));
    delete element.handlerManifest.reportHeartbeat;
    const result = await withManifest(JSON.stringify([element]));
    expect(result).toMatchObject({ ok: false });
    const faults = 'faults' in result ? result.faults.map(({ path, code }) => `${path} ${code}`) : [];
    expect(faults.sort()).toEqual([
      `${at}#/0/handlerManifest/disableCommand command_escapes`,
      `${at}#/0/handlerManifest/reportHeartbeat field_missing`,
    ]);
  });
});

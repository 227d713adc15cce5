import { describe, expect, test } from 'vitest';
import { checkCommands, commandLinesOf, programOf } from './commands.ts';
import type { DirectoryEntry } from './directory.ts';
import { kindFaults, permissions } from './entry-kind.ts';

const entry = (changed: Partial<DirectoryEntry> = {}): DirectoryEntry => ({
  ...{ rawName: Buffer.from('a'), shown: 'a', flags: 0, method: 8, crc32: 0, packed: 5, unpacked: 9, offset: 0 },
  ...{ mode: 0o100644, extraFields: [], faults: [] },
  ...changed,
});

describe('the kind of an entry', () => {
  test.each<[what: string, changed: Partial<DirectoryEntry>, name: string, faults: string[]]>([
    ['a deflated file', {}, 'a', []],
    ['a stored file', { method: 0, unpacked: 5 }, 'a', []],
    ['a file of DOS', { mode: 0 }, 'a', []],
    ['a folder', { mode: 0o040755, packed: 0, unpacked: 0 }, 'a/', []],
    ['a folder of DOS', { mode: 0, packed: 0, unpacked: 0 }, 'a/', []],
    ['a folder with contents', { mode: 0o040755 }, 'a/', ['entry_folder']],
    ['a folder that says file', { packed: 0, unpacked: 0 }, 'a/', ['entry_folder']],
    ['a file that says folder', { mode: 0o040755 }, 'a', ['entry_folder']],
    ['a link', { mode: 0o120777 }, 'a', ['entry_link']],
    ['a link that is named as a folder', { mode: 0o120777 }, 'a/', ['entry_link']],
    ['a socket', { mode: 0o140777 }, 'a', ['entry_special']],
    ['a block device', { mode: 0o060666 }, 'a', ['entry_special']],
    ['encrypted', { flags: 0x0001 }, 'a', ['entry_encrypted']],
    ['strongly encrypted', { flags: 0x0040 }, 'a', ['entry_encrypted']],
    ['with a masked header', { flags: 0x2000 }, 'a', ['entry_encrypted']],
    ['with AES', { method: 99 }, 'a', ['entry_encrypted']],
    ['with flags that change nothing', { flags: 0x0808 }, 'a', []],
    ['with another method', { method: 9 }, 'a', ['entry_method']],
    ['stored with two sizes', { method: 0 }, 'a', ['entry_size']],
    ['an encrypted link', { flags: 1, mode: 0o120777 }, 'a', ['entry_encrypted', 'entry_link']],
  ])('%s', (_, changed, name, faults) => {
    expect(kindFaults(entry(changed), name).map(({ code }) => code)).toEqual(faults);
  });

  test.each<[mode: number, bits: number | null]>([
    [0o100755, 0o755],
    [0o104755, 0o755],
    [0o100000, 0],
    [0, null],
  ])('of mode %i has the permissions %s', (mode, bits) => {
    expect(permissions(entry({ mode }))).toBe(bits);
  });
});

describe('AZ-P4 the commands of a manifest', () => {
  const manifest = (lines: object) => [{ handlerManifest: lines }];
  test.each<[what: string, file: unknown, lines: object]>([
    ['none', undefined, {}],
    ['no list', { handlerManifest: { installCommand: 'a' } }, {}],
    ['an empty list', [], {}],
    ['no object', [7], {}],
    ['no commands', [{}], {}],
    ['text only', manifest({ installCommand: 'a', enableCommand: 5, disableCommand: ' ' }), { install: 'a' }],
    ['unknown ones', manifest({ runCommand: 'a', updateCommand: ' b ' }), { update: ' b ' }],
  ])('%s', (_, file, lines) => {
    expect(commandLinesOf(file)).toEqual(lines);
  });

  test.each<[line: string, program: string | null]>([
    ['"run me" --now', 'run me'],
    ["'run me'", 'run me'],
    ['"not closed', null],
    ['""', ''],
    ['run"me', 'run"me'],
    ['run\nme', 'run'],
  ])('%j starts %j', (line, program) => {
    expect(programOf(line)).toBe(program);
  });

  const files = [
    { name: 'run', size: 1, mode: 0o644 },
    { name: 'bin/run', size: 1, mode: 0o755 },
    { name: 'dos.cmd', size: 1, mode: null },
  ];
  test.each<[line: string, fault: string | null, warning: string | null]>([
    ['bin/run', null, null],
    ['bin\\run', null, null],
    ['./bin/../bin/run', null, null],
    ['dos.cmd', null, null],
    ['run', null, 'command_not_executable'],
    ['Run', null, 'command_program_absent'],
    ['bin', null, 'command_program_absent'],
    ['""', 'command_quotes', null],
    ['"bin/run', 'command_quotes', null],
    ['/bin/run', 'command_absolute', null],
    ['bin/../../run', 'command_escapes', null],
  ])('%j: fault %s, warning %s', (line, fault, warning) => {
    const found = checkCommands({ enable: line }, files);
    expect(found.faults.map(({ code }) => code)).toEqual(fault === null ? [] : [fault]);
    expect(found.warnings.map(({ code }) => code)).toEqual(warning === null ? [] : [warning]);
    for (const { path } of [...found.faults, ...found.warnings]) {
      expect(path).toBe('HandlerManifest.json#/0/handlerManifest/enableCommand');
    }
  });
});

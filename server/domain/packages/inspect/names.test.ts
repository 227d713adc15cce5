import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readExtraFields } from './directory.ts';
import { decodeName, NameRegister, nameFaults, shownName, spellingKey } from './entry-name.ts';
import { Findings } from './finding.ts';
import { HeadReader } from './script-head.ts';

const utf8 = 0x800;
/** Returns an extra field with the Unicode name `second`, for an entry whose own name has the bytes `first`. */
const unicodePath = (first: Buffer, second: Buffer | string, changed: { version?: number; sum?: number } = {}) => {
  const head = Buffer.alloc(5);
  head.writeUInt8(changed.version ?? 1, 0);
  head.writeUInt32LE(changed.sum ?? crc32(first), 1);
  return [{ id: 0x7075, data: Buffer.concat([head, Buffer.from(second)]) }];
};
const latin = Buffer.from('gr\u00f6\u00dfe', 'latin1');
const plain = Buffer.from('plain');

describe('the name of an entry', () => {
  test.each<[string, string | null, string | null]>([
    ['ASCII without a mark', 'plain', decodeName(plain, 0, [])],
    ['UTF-8 with its mark', 'größe', decodeName(Buffer.from('größe'), utf8, [])],
    ['UTF-8 without its mark', null, decodeName(Buffer.from('größe'), 0, [])],
    ['other bytes with the mark', null, decodeName(latin, utf8, [])],
    ['other bytes with a second name', 'größe', decodeName(latin, 0, unicodePath(latin, 'größe'))],
    ['the same name twice', 'plain', decodeName(plain, 0, unicodePath(plain, 'plain'))],
    ['a second name that differs', null, decodeName(plain, 0, unicodePath(plain, 'other'))],
    ['a second name of other bytes', null, decodeName(latin, 0, unicodePath(plain, 'größe'))],
    ['a second name of another version', null, decodeName(latin, 0, unicodePath(latin, 'größe', { version: 2 }))],
    ['a second name that is no UTF-8', null, decodeName(latin, 0, unicodePath(latin, latin))],
    ['a second name that is cut', null, decodeName(latin, 0, [{ id: 0x7075, data: Buffer.alloc(4) }])],
    ['another extra field', 'plain', decodeName(plain, 0, [{ id: 0x5455, data: Buffer.alloc(5) }])],
  ])('%s is %j', (_, expected, found) => {
    expect(found).toBe(expected);
  });

  test.each<[Buffer | string, string]>([
    ['bin/run', 'bin/run'],
    ['a\u0000b\u001bc', 'a\ufffdb\ufffdc'],
    ['safe\u202egpj', 'safe\ufffdgpj'],
    ['n'.repeat(200), 'n'.repeat(200)],
    ['n'.repeat(201), `${'n'.repeat(199)}…`],
    [latin, 'gr\ufffd\ufffde'],
  ])('%j is shown as %j', (raw, shown) => {
    expect(shownName(Buffer.from(raw))).toBe(shown);
  });

  test.each<[name: string, faults: string[]]>([
    ['install.sh', []],
    ['bin/', []],
    ['a/b/c.txt', []],
    ['.hidden', []],
    ['a..b', []],
    ['...', []],
    ['..', ['entry_name_escapes']],
    ['../a', ['entry_name_escapes']],
    ['a/..', ['entry_name_escapes']],
    ['a/../', ['entry_name_escapes']],
    ['a\\..\\b', ['entry_name_escapes']],
    ['.', ['entry_name_form']],
    ['./a', ['entry_name_form']],
    ['a/./b', ['entry_name_form']],
    ['a//b', ['entry_name_form']],
    ['/a', ['entry_name_absolute']],
    ['//server/share', ['entry_name_absolute']],
    ['\\a', ['entry_name_absolute', 'entry_name_backslash']],
    ['a\\b', ['entry_name_backslash']],
    ['C:', ['entry_name_drive']],
    ['c:\\a', ['entry_name_drive', 'entry_name_backslash']],
    ['CC:a', []],
    ['a:b', ['entry_name_drive']],
    ['a\u0000/../b', ['entry_name_nul', 'entry_name_escapes']],
    ['a\u007fb', ['entry_name_control']],
    ['a\u0085b', ['entry_name_control']],
    ['日本/語', []],
  ])('%j has the faults %j', (name, faults) => {
    expect(nameFaults(name)).toEqual(faults);
  });

  test.each<[string, string, boolean]>([
    ['a/B', 'A/b', true],
    ['\u00e4', 'a\u0308', true],
    ['\u00c4', 'a\u0308', true],
    ['bin', 'bin/', true],
    ['ſ', 's', false],
    ['a', 'a ', false],
  ])('%j and %j are one file on some file system: %s', (a, b, same) => {
    expect(spellingKey(a) === spellingKey(b)).toBe(same);
  });
});

describe('names next to each other', () => {
  const faultsOf = (...names: string[]) => {
    const register = new NameRegister();
    return names.map((name) => register.add(name)?.code ?? null);
  };
  test.each<[string, string[], (string | null)[]]>([
    ['different files', ['a', 'b', 'a.b'], [null, null, null]],
    ['a folder and its files', ['a/', 'a/b', 'a/c/', 'a/c/d'], [null, null, null, null]],
    ['a folder after its files', ['a/b', 'a/'], [null, null]],
    ['the same twice', ['a', 'a'], [null, 'entry_twice']],
    ['three times', ['a', 'a', 'a'], [null, 'entry_twice', 'entry_twice']],
    ['another case', ['Read.me', 'README'], [null, null]],
    ['the same in another case', ['Readme', 'README'], [null, 'entry_two_spellings']],
    ['a folder in another case', ['Bin/', 'bin/'], [null, 'entry_two_spellings']],
    ['a file, then a folder of that name', ['a', 'a/'], [null, 'entry_two_spellings']],
    ['a file, then a file in it', ['a', 'a/b'], [null, 'entry_file_and_folder']],
    ['a file deep in it, then the file', ['a/b/c', 'a/b'], [null, 'entry_file_and_folder']],
    ['a file in another case, then a file in it', ['BIN', 'bin/run'], [null, 'entry_file_and_folder']],
    ['siblings of such a file', ['a', 'a.txt', 'ab/c'], [null, null, null]],
  ])('%s', (_, names, faults) => {
    expect(faultsOf(...names)).toEqual(faults);
  });

  test('a fault names the other entry', () => {
    const register = new NameRegister();
    register.add('Bin/Run');
    expect(register.add('bin')).toEqual({ code: 'entry_file_and_folder', params: { other: 'Bin/Run' } });
    expect(register.add('bin/run')).toEqual({ code: 'entry_two_spellings', params: { other: 'Bin/Run' } });
  });

  test('very deep names are registered within a second', () => {
    const register = new NameRegister();
    const deep = `${'d/'.repeat(500)}`;
    const started = performance.now();
    for (let n = 0; n < 20_000; n += 1) expect(register.add(`${deep}${n}`)).toBeNull();
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('extra fields', () => {
  const field = (id: number, length: number, bytes: number) => {
    const head = Buffer.alloc(4);
    head.writeUInt16LE(id, 0);
    head.writeUInt16LE(length, 2);
    return Buffer.concat([head, Buffer.alloc(bytes, 7)]);
  };
  test.each<[string, Buffer, number[] | null]>([
    ['none', Buffer.alloc(0), []],
    ['one', field(1, 8, 8), [1]],
    ['two', Buffer.concat([field(1, 8, 8), field(0x5455, 0, 0)]), [1, 0x5455]],
    ['padding of three zeros', Buffer.concat([field(1, 2, 2), Buffer.alloc(3)]), [1]],
    ['padding of anything else', Buffer.concat([field(1, 2, 2), Buffer.from([1])]), null],
    ['longer than announced', field(1, 2, 4), null],
    ['shorter than announced', field(1, 9, 8), null],
  ])('%s', (_, bytes, ids) => {
    expect(readExtraFields(bytes)?.map(({ id }) => id) ?? null).toEqual(ids);
  });
});

describe('the first line of a script', () => {
  test.each<[string, string[], boolean]>([
    ['an interpreter and CR LF', ['#!/bin/sh\r\nexit'], true],
    ['an interpreter and LF', ['#!/bin/sh\nexit\r\n'], false],
    ['CR LF without an interpreter', ['echo\r\n'], false],
    ['in pieces', ['#', '!/bin/', 'sh\r', '\n'], true],
    ['nothing', [], false],
    ['an interpreter without a line end', ['#!/bin/sh'], false],
    ['a line end beyond what is read', [`#!/bin/sh${' '.repeat(600)}\r\n`], false],
  ])('%s', (_, pieces, expected) => {
    const head = new HeadReader();
    for (const piece of pieces) head.take(Buffer.from(piece));
    expect(head.isScriptWithCrLf()).toBe(expected);
  });
});

describe('findings', () => {
  test.each<[count: number, listed: number]>([
    [0, 0],
    [99, 99],
    [100, 100],
    [101, 101],
    [5_000, 101],
  ])('%i of them: %i entries', (count, listed) => {
    const findings = new Findings('more_warnings');
    for (let n = 0; n < count; n += 1) findings.add(`${n}`, 'entry_twice');
    expect(findings.list()).toHaveLength(listed);
    expect(findings.count).toBe(count);
    const last = findings.list().at(-1);
    if (count > 100) expect(last).toEqual({ path: '', code: 'more_warnings', params: { count: count - 100 } });
  });

  test('have params only if there are any', () => {
    const findings = new Findings('more_faults');
    findings.add('a', 'entry_twice');
    findings.add('b', 'entry_name_long', { limit: 5 });
    expect(findings.list()).toEqual([
      { path: 'a', code: 'entry_twice' },
      { path: 'b', code: 'entry_name_long', params: { limit: 5 } },
    ]);
  });
});

import { describe, expect, test } from 'vitest';
import { fillCommandLine, fillFormat, MissingArgument, parseCommandLine, parseFormat } from './format-string.ts';

const wordsOf = (line: string, positional: unknown[] = [], named: Record<string, unknown> = {}) => {
  const parsed = parseCommandLine(line);
  return 'fault' in parsed ? parsed.fault : fillCommandLine(parsed.value, { positional, named });
};
const textOf = (format: string, positional: unknown[] = [], named: Record<string, unknown> = {}) => {
  const parsed = parseFormat(format);
  return 'fault' in parsed ? parsed.fault : fillFormat(parsed.value, { positional, named });
};

describe('a command line', () => {
  test.each<[line: string, words: string[]]>([
    ['', []],
    ['  a   b ', ['a', 'b']],
    [`'a b' "c d" e\\ f`, ['a b', 'c d', 'e f']],
    [`"" ''`, ['', '']],
    [`a"b"'c'd`, ['abcd']],
    [`"a\\"b\\\\c\\n"`, ['a"b\\c\\n']],
    [`'a\\b'`, ['a\\b']],
    ['$HOME `id` $(id) *;|&<>', ['$HOME', '`id`', '$(id)', '*;|&<>']],
    ['{{a}} a\\', ['{a}', 'a\\']],
  ])('%j is split as by a shell, without anything else of a shell', (line, words) => {
    expect(wordsOf(line)).toEqual(words);
  });

  test('values stay one argument, whatever they contain', () => {
    const hostile = `'; rm -rf x $(id) "`;
    expect(wordsOf(`run {0} --name={name} "{0}"`, [hostile], { name: hostile })).toEqual([
      'run',
      hostile,
      `--name=${hostile}`,
      hostile,
    ]);
  });

  test('{*} alone is any number of arguments, and joined by spaces within a word', () => {
    expect(wordsOf('a {*} b', ['x y', 2])).toEqual(['a', 'x y', '2', 'b']);
    expect(wordsOf('a {*} b')).toEqual(['a', 'b']);
    expect(wordsOf('all={*}', ['x', 'y'])).toEqual(['all=x y']);
  });

  test.each([
    ['"{0', 'format_brace'],
    ["'x", 'format_quote'],
    ['a "b', 'format_quote'],
    ['{', 'format_brace'],
    ['}', 'format_brace'],
    ['{}', 'format_placeholder'],
    ['{a{b}}', 'format_placeholder'],
  ])('%j is refused: %s', (line, fault) => {
    expect(wordsOf(line)).toBe(fault);
  });
});

describe('a format string', () => {
  test.each<[value: unknown, text: string]>([
    [12, '12'],
    [1.5, '1.5'],
    [true, 'true'],
    [null, ''],
    [[1, 'a'], '[1,"a"]'],
    [{ a: null }, '{"a":null}'],
    ['a b', 'a b'],
  ])('puts in %j as %j', (value, text) => {
    expect(textOf('[{0}]', [value])).toBe(`[${text}]`);
  });

  test('keeps quotes, backslashes and spaces', () => {
    expect(textOf(`"a"  'b' \\n {{x}}`)).toBe(`"a"  'b' \\n {x}`);
  });

  test.each([9, 'who', 'toString'])('names the missing argument %s', (argument) => {
    expect(() => textOf(`{${argument}}`)).toThrow(MissingArgument);
  });
});

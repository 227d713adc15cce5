import { expect, test } from 'vitest';
import { csvLine } from './csv.ts';
import { harmless } from './harmless.ts';

test.each([
  ['words', ['a', 1, null], '"a",1,\r\n'],
  ['quotes, commas and lines', ['a "b", c\r\nd'], '"a ""b"", c\r\nd"\r\n'],
  ['a formula', ['=1+1', '+1', '-1', '@SUM(A1)'], `"'=1+1","'+1","'-1","'@SUM(A1)"\r\n`],
  ['a formula after spaces', [' =1', '\t=1', '\r=1', '\u00a0=1'], `"' =1","'\t'=1","'\r'=1","'\u00a0=1"\r\n`],
  ['numbers unchanged', [-5, 0.25], '-5,0.25\r\n'],
])('%s', (_what, cells, line) => {
  expect(csvLine(cells)).toBe(line);
});

const signs = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫', '−'];
const before = [
  '',
  ' ',
  '\t',
  '\r',
  '\n',
  '\r\n',
  '\u00A0',
  '\u3000',
  '\uFEFF',
  '\u200B',
  '\u202E',
  '\u0000',
  ' \t\u200B ',
];

test.each(signs)('%s starts no formula, whatever invisible characters precede it', (sign) => {
  for (const hidden of before) {
    const text = `${hidden}${sign}1+1`;
    expect(harmless(text)).toMatch(/^'/);
    expect(harmless(text).replaceAll("'", '')).toBe(text);
  }
});

test('a leading tab or line break is escaped', () => {
  for (const text of ['\tx', '\rx', '\nx']) expect(harmless(text)).toBe(`'${text}`);
});

test.each([';', '\t', '|'])('no formula starts after a separator of another locale (%j)', (separator) => {
  expect(harmless(`a${separator}=cmd()`)).toBe(`a${separator}'=cmd()`);
  expect(harmless(`a${separator} +1`)).toBe(`a${separator} '+1`);
});

test.each(['web-1', 'a=b', 'role=web; env=prod', '1+1', 'ada@example.org', '', 'ä', "'=1"])(
  '%s is unchanged',
  (text) => {
    expect(harmless(text)).toBe(text);
  },
);

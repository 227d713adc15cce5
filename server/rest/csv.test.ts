import { expect, test } from 'vitest';
import { csvLine } from './csv.ts';

test.each([
  ['words', ['a', 1, null], '"a",1,\r\n'],
  ['quotes, commas and lines', ['a "b", c\r\nd'], '"a ""b"", c\r\nd"\r\n'],
  ['a formula', ['=1+1', '+1', '-1', '@SUM(A1)'], `"'=1+1","'+1","'-1","'@SUM(A1)"\r\n`],
  ['a formula behind blanks', [' =1', '\t=1', '\r=1', '\u00a0=1'], `"' =1","'\t=1","'\r=1","'\u00a0=1"\r\n`],
  ['numbers as they are', [-5, 0.25], '-5,0.25\r\n'],
])('%s', (_what, cells, line) => {
  expect(csvLine(cells)).toBe(line);
});

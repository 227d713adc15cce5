import { expect, test } from 'vitest';
import { terminalText } from './terminal-text.ts';

test.each([
  ['a plain line', 'renewing', 'renewing'],
  ['colors', '\u001b[1;31mfailed\u001b[0m: no', 'failed: no'],
  ['a link that runs a script', '\u001b]8;;javascript:alert(1)\u0007here\u001b]8;;\u0007', 'here'],
  ['a title', '\u001b]0;root\u001b\\$ ls', '$ ls'],
  ['clearing the screen', 'a\u001b[2Jb', 'ab'],
  ['a progress bar', '10 %\r50 %\r100 %', '100 %'],
  ['an overwritten start', 'abcdef\rxy', 'xycdef'],
  ['a Windows line ending', 'done\r', 'done'],
  ['markup', '<img onerror=alert(1)>', '<img onerror=alert(1)>'],
  ['a mark that reverses the reading direction', 'exe.\u202etxt', 'exe.\\u202etxt'],
  ['control characters', 'a\u0000\u0008b\tc', 'ab\tc'],
])('%s', (_, line, expected) => {
  expect(terminalText(line)).toBe(expected);
});

test('unfinished sequences take no noticeable time', () => {
  const begun = performance.now();
  for (const part of ['\u001b[', '\u001b]', '\u001b[1;']) terminalText(part.repeat(200_000));
  expect(performance.now() - begun).toBeLessThan(5_000);
});

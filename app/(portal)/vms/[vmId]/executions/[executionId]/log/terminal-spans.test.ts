import { expect, test } from 'vitest';
import { cutSpans, terminalSpans } from './terminal-spans.ts';

const shown = (line: string) =>
  terminalSpans(line)
    .map(({ text }) => text)
    .join('');

test.each([
  ['a plain line', 'renewing', 'renewing'],
  ['colors', '\u001b[1;31mfailed\u001b[0m: no', 'failed: no'],
  ['a link that runs a script', '\u001b]8;;javascript:alert(1)\u0007here\u001b]8;;\u0007', 'here'],
  ['a title', '\u001b]0;root\u001b\\$ ls', '$ ls'],
  ['clearing the screen', 'a\u001b[2Jb', 'ab'],
  ['a string that does not end', 'a\u001b]0;hidden', 'a0;hidden'],
  ['another character set', '\u001b(Bplain', 'plain'],
  ['a sequence that does not end', 'a\u001b[1;3', 'a'],
  ['a progress bar', '10 %\r50 %\r100 %', '100 %'],
  ['an overwritten start', 'abcdef\rxy', 'xycdef'],
  ['an erased line', 'downloading\r\u001b[Kdone', 'done'],
  ['a Windows line ending', 'done\r', 'done'],
  ['markup', '<img onerror=alert(1)>', '<img onerror=alert(1)>'],
  ['a mark that reverses the reading direction', 'exe.\u202etxt', 'exe.\\u202etxt'],
  ['control characters', 'a\u0000\u0008b\tc', 'ab\tc'],
])('case 25: a terminal shows %s as text only', (_, line, expected) => {
  expect(shown(line)).toBe(expected);
});

const styled = (codes: string) => {
  const { text: _, style } = { text: '', style: undefined, ...terminalSpans(`\u001b[${codes}mx`)[0] };
  return style;
};

test.each([
  ['31', 'red'],
  ['92', 'green'],
  ['33', 'yellow'],
  ['34', 'blue'],
  ['95', 'magenta'],
  ['36', 'cyan'],
  ['90', 'grey'],
  ['2', 'grey'],
  ['37', null],
  ['30', null],
  ['38;5;196', 'red'],
  ['38;5;46', 'green'],
  ['38;5;3', 'yellow'],
  ['38;5;21', 'blue'],
  ['38;5;244', 'grey'],
  ['38;5;255', null],
  ['38;2;255;140;0', 'yellow'],
  ['38:2:90:200:250', 'cyan'],
  ['38;2;200;0;200', 'magenta'],
  ['38;2;255;0;40', 'red'],
  ['31;39', null],
  ['38;9', null],
  ['999', null],
])('the attributes %s have the color %s of the theme', (codes, color) => {
  expect(styled(codes)).toMatchObject({ color, background: null });
});

test('bold, italic, underlined and reversed text end with their own attribute or with 0', () => {
  expect(
    terminalSpans('\u001b[1;3;4ma\u001b[22mb\u001b[23;24mc\u001b[41;1md\u001b[me\u001b[32;7mf\u001b[27mg'),
  ).toEqual([
    { text: 'a', style: { color: null, background: null, isBold: true, isItalic: true, isUnderlined: true } },
    { text: 'b', style: { color: null, background: null, isBold: false, isItalic: true, isUnderlined: true } },
    { text: 'c', style: { color: null, background: null, isBold: false, isItalic: false, isUnderlined: false } },
    { text: 'd', style: { color: null, background: 'red', isBold: true, isItalic: false, isUnderlined: false } },
    { text: 'e', style: { color: null, background: null, isBold: false, isItalic: false, isUnderlined: false } },
    { text: 'f', style: { color: null, background: 'green', isBold: false, isItalic: false, isUnderlined: false } },
    { text: 'g', style: { color: 'green', background: null, isBold: false, isItalic: false, isUnderlined: false } },
  ]);
});

test('text that was overwritten leaves the color of what remains', () => {
  const spans = terminalSpans('\u001b[31mfailed\u001b[0m\rok');
  expect(spans.map(({ text, style }) => [text, style.color])).toEqual([
    ['ok', null],
    ['iled', 'red'],
  ]);
});

test('a long line is cut at a character, in its styles', () => {
  const spans = cutSpans(terminalSpans('\u001b[31mabc\u001b[0mdef'), 4);
  expect(spans.map(({ text, style }) => [text, style.color])).toEqual([
    ['abc', 'red'],
    ['d', null],
  ]);
});

/** Returns the shortest of several runs, in milliseconds. */
function fastest(act: () => unknown): number {
  const times = Array.from({ length: 7 }, () => {
    const begun = performance.now();
    act();
    return performance.now() - begun;
  });
  return Math.min(...times);
}

test.each([
  ['unfinished sequences', '\u001b['],
  ['unfinished links', '\u001b]8;;javascript:alert(1)'],
  ['unfinished strings', '\u001b]'],
  ['escape characters', '\u001b'],
  ['colors', '\u001b[1;31mx'],
  ['carriage returns', '\u001b[32mxy\rz'],
  ['parameters', '\u001b[1;1;1;1;1;1;1;1'],
])('case 25: 1 MiB of %s becomes text without sequences, in less than 50 ms on a fast machine', (_, part) => {
  const line = part.repeat(Math.ceil((1024 * 1024) / part.length));
  for (const character of '\u001b\u0007\r') expect(shown(line)).not.toContain(character);
  // Parsing the row as JSON, which the page must do in any case, takes 2 ms or more.
  const row = JSON.stringify([0, 'out', 1, line]);
  expect(fastest(() => terminalSpans(line)) / fastest(() => JSON.parse(row))).toBeLessThan(25);
});

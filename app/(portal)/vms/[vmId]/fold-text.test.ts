import { expect, test } from 'vitest';
import { foldText } from './fold-text.ts';

const lines = (count: number) => Array.from({ length: count }, (_, n) => `line ${n + 1}`).join('\n');

test('a short text is shown whole', () => {
  for (const text of ['', 'ready', lines(18), `${lines(18)}\n\n\n`, 'x'.repeat(900)]) expect(foldText(text)).toBeNull();
});

test('a long text is folded to its first lines, a long line to its first characters', () => {
  expect(foldText(lines(19))).toBe(lines(12));
  expect(foldText('x'.repeat(16_000))).toBe('x'.repeat(600));
});

test('folding never splits a character', () => {
  expect(foldText(`${'x'.repeat(599)}${'😀'.repeat(1_000)}`)).toBe('x'.repeat(599));
});

test('short lines are folded at a line end, a long line after a short one within the line', () => {
  const line = 'x'.repeat(90);
  expect(foldText(Array(30).fill(line).join('\n'))).toBe(Array(6).fill(line).join('\n'));
  expect(foldText(`short\n${'x'.repeat(16_000)}`)).toBe(`short\n${'x'.repeat(594)}`);
});

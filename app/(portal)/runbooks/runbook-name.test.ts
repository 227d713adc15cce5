import { expect, test } from 'vitest';
import { isRunbookName, runbookNameOf } from './runbook-name.ts';

test.each([
  ['Rotate certificates', 'rotate-certificates'],
  ['Prüfe  Größe (v2)!', 'prufe-gro-e-v2'],
  ['  ', ''],
  ['証明書', ''],
  [`${'long '.repeat(12)}tail`, `${'long-'.repeat(12)}tail`],
  ['x'.repeat(80), 'x'.repeat(64)],
  [`${'x'.repeat(63)} y`, 'x'.repeat(63)],
])('the title %j suggests the name %j', (title, name) => {
  expect(runbookNameOf(title)).toBe(name);
});

test('every suggested name is accepted, and an empty name or one with capitals, spaces or double separators is not', () => {
  expect(isRunbookName(runbookNameOf('Rotate: certificates'))).toBe(true);
  for (const name of ['', 'Rotate', 'a b', 'a--b', '-a', 'a-', 'a/b', 'x'.repeat(65)]) {
    expect(isRunbookName(name), name).toBe(false);
  }
});

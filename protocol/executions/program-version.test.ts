import { expect, test } from 'vitest';
import { isAtLeast, programVersion } from './program-version.ts';

test.each<[text: string, numbers: number[] | null]>([
  ['5.2.15(1)-release', [5, 2, 15]],
  ['3.11.2', [3, 11, 2]],
  ['7', [7]],
  ['v7', null],
  ['', null],
])('the numbers of %j are %j', (text, numbers) => {
  expect(programVersion(text)).toEqual(numbers);
});

test.each<[found: string, wanted: string, is: boolean]>([
  ['5.2.15', '5.2.15', true],
  ['5.2.15', '5.10', false],
  ['5.10', '5.9.9', true],
  ['5', '5.0.0', true],
  ['5', '5.0.1', false],
  ['7.4.0-preview', '7.4', true],
])('version %s serves a script that needs %s: %s', (found, wanted, is) => {
  expect(isAtLeast(found, wanted)).toBe(is);
});

import { expect, test } from 'vitest';
import { optionsPlace, typedIn, withTyped } from './typed-texts.ts';

const plan = JSON.stringify({ Scripts: { 'a/b': { Type: 'Bash' }, ab: { Type: 'Bash' } } });
const typed = { [optionsPlace('a/b')]: '{', [optionsPlace('a/b', 'timeout')]: 'x', [optionsPlace('ab')]: '[' };

test('a text stays until it is valid, and a valid text also replaces the texts inside its place', () => {
  expect(withTyped({}, optionsPlace('ab', 'timeout'), 'x')).toEqual({ '/Scripts/ab/Options/timeout': 'x' });
  expect(withTyped(typed, optionsPlace('a/b', 'timeout'), null)).toEqual({
    '/Scripts/a~1b/Options': '{',
    '/Scripts/ab/Options': '[',
  });
  expect(withTyped(typed, optionsPlace('a/b'), null)).toEqual({ '/Scripts/ab/Options': '[' });
});

test('the texts of a script disappear with the script, and stay while the plan is not valid', () => {
  expect(typedIn(plan, typed)).toEqual(typed);
  expect(typedIn('{"Scripts":{"ab":{}}}', typed)).toEqual({ '/Scripts/ab/Options': '[' });
  expect(typedIn('{"Scripts":', typed)).toEqual(typed);
});

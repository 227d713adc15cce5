import { expect, test } from 'vitest';
import { executorOptions, platformNames } from '#protocol/executions/index.ts';
import { environmentOf, isNamed, switchesOf, textsOf, timeoutOf, withOption } from './script-options.ts';

test.each(platformNames)('the form offers only options that the executor of %s accepts, with its defaults', (type) => {
  const defaults = executorOptions[type].parse({}) as Record<string, unknown>;
  for (const [name, fallback] of switchesOf(type)) expect(defaults[name], name).toBe(fallback);
  for (const name of textsOf(type)) expect(executorOptions[type].safeParse({ [name]: 'x' }).success, name).toBe(true);
});

test('an option that is empty or has its default leaves the plan', () => {
  expect(withOption({ timeout: 5 }, 'reboots', true, false)).toEqual({ timeout: 5, reboots: true });
  expect(withOption({ timeout: 5, reboots: true }, 'reboots', false, false)).toEqual({ timeout: 5 });
  expect(withOption({ stdin: 'x' }, 'stdin', '')).toEqual({});
});

test('a timeout is a whole number of seconds', () => {
  expect(timeoutOf(' 300 ')).toBe(300);
  expect(timeoutOf('')).toBeUndefined();
  for (const text of ['0', '-1', '1.5', 'x', '12345678']) expect(timeoutOf(text), text).toBeNull();
});

const row = (id: number, name: string, value: string) => ({ id, name, value });

test('empty rows of variables are left out', () => {
  expect(environmentOf([row(0, ' TOKEN ', '{token}'), row(1, '', '')])).toEqual({ TOKEN: '{token}' });
  expect(environmentOf([row(0, ' ', '')])).toBeUndefined();
});

test('a value without a name, and two variables with the same name, are faults, because one would be lost', () => {
  expect(environmentOf([row(0, '', 'x')])).toBeNull();
  const twice = [row(0, 'A', '1'), row(1, 'B', '2'), row(2, ' A', '3')];
  expect(environmentOf(twice)).toBeNull();
  expect(twice.map(({ id }) => isNamed(twice, id))).toEqual([false, true, false]);
});

import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { executionLimits, parseExactJson } from '#protocol/executions/index.ts';
import { ServiceState } from './state.ts';

/** How many keys the largest state has; `npm run test:crashes` tests 1,000,000. */
const keys = Number(process.env.ANNEX_STATE_KEYS ?? 100_000);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'annex-state-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = (): string => join(folder, readdirSync(folder)[0] ?? '');

/** Returns the values of keys as a later execution reads them. */
function valuesOf(...keys: string[]): string[] {
  const state = new ServiceState(folder, 'web');
  const values = keys.map((key) => state.get(key));
  state.close();
  return values;
}

test('a later execution reads the last value of each key', () => {
  const state = new ServiceState(folder, 'web');
  expect(state.get('a')).toBe('null');
  state.set('a', 1);
  state.set('b', { x: ['ü'] });
  state.set('a', 2);
  state.set('c', 3);
  state.set('c', null);
  expect([state.get('a'), state.get('c')]).toEqual(['2', 'null']);
  expect(valuesOf('a', 'b', 'c'), 'while the first execution still runs').toEqual(['2', '{"x":["ü"]}', 'null']);
  state.close();
  expect(valuesOf('a', 'b', 'c')).toEqual(['2', '{"x":["ü"]}', 'null']);
});

test('a change that a crash cut off is not read, and later changes are', () => {
  const state = new ServiceState(folder, 'web');
  state.set('a', 1);
  state.close();
  appendFileSync(file(), '{"a":2');
  expect(valuesOf('a')).toEqual(['1']);
  const next = new ServiceState(folder, 'web');
  next.set('b', 2);
  next.close();
  expect(valuesOf('a', 'b')).toEqual(['1', '2']);
});

test('a file of many changes is replaced with a shorter one, and keeps all values', () => {
  const state = new ServiceState(folder, 'web', 100);
  state.set('kept', 'x');
  state.set('gone', 'x');
  state.set('gone', null);
  for (let n = 0; n < 1_000; n += 1) state.set('k', n);
  expect(readFileSync(file()).length).toBeLessThan(300);
  state.set('k', 'last');
  state.close();
  expect(valuesOf('kept', 'gone', 'k')).toEqual(['"x"', 'null', '"last"']);
});

test('the size of all values is limited, and a value that is replaced or removed no longer counts', () => {
  const state = new ServiceState(folder, 'web');
  const value = 'x'.repeat(executionLimits.stateValueBytes - 2);
  const most = Math.floor(executionLimits.stateBytes / executionLimits.stateValueBytes) - 1;
  for (let n = 0; n < most; n += 1) state.set(`k${n}`, value);
  state.set('k0', value);
  expect(() => state.set('more', value)).toThrow('The state is larger than 16 MiB.');
  state.set('k0', null);
  state.set('more', value);
  state.close();
  expect(valuesOf('k0', 'more', 'k1')).toEqual(['null', `"${value}"`, `"${value}"`]);
});

test('case 43: a state of very many keys is read in proportion to its size, and stays within its limit', () => {
  const first = new ServiceState(folder, 'web', -4 * executionLimits.stateBytes);
  first.set('a', 1);
  first.close();
  const name = (n: number) => `k${String(n).padStart(7, '0')}`;
  const line = (_: unknown, from: number) =>
    `{${Array.from({ length: 1_000 }, (_, n) => `"${name(1_000 * from + n)}":${n % 10}`).join(',')}}`;
  const lines = Array.from({ length: keys / 1_000 }, line);
  writeFileSync(file(), lines.map((each) => `${each}\n`).join(''));
  const took = (act: () => unknown) => {
    const began = performance.now();
    act();
    return performance.now() - began;
  };
  const yardstick = took(() => lines.map((each) => Object.keys(parseExactJson(each) as object)));
  const state = new ServiceState(folder, 'web', -4 * executionLimits.stateBytes);
  expect(took(() => state.get('k')) / yardstick).toBeLessThan(10);
  expect([name(7), name(keys - 1), '../k'].map((key) => state.get(key))).toEqual(['7', '9', 'null']);
  state.set('../k', 'x');
  state.close();
  const rewritten = readFileSync(file(), 'utf8').trimEnd().split('\n');
  expect(Math.max(...rewritten.map((each) => Object.keys(JSON.parse(each) as object).length))).toBe(1_000);
  expect(readdirSync(folder)).toHaveLength(1);
  const value = 'x'.repeat(executionLimits.stateValueBytes - 2);
  const later = new ServiceState(folder, 'web');
  let more = 0;
  expect(() => {
    for (; more < 20; more += 1) later.set(`more${more}`, value);
  }).toThrow('The state is larger than 16 MiB.');
  expect((keys * 11) / 1_048_576 + more).toBeLessThan(16);
  expect(later.get(name(keys - 1))).toBe('9');
  later.close();
}, 60_000);

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LogEntry } from './log-entry.ts';
import { RunLog } from './run-log.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'annex-run-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const newLog = (secrets = new Set<string>()) => new RunLog(join(folder, 'units', 'web-0', 'run.log'), secrets);
/** Returns the lines of a log without their seconds. */
const linesOf = ({ path }: RunLog): string[] =>
  readFileSync(path, 'utf8')
    .replaceAll(/^\+\d+\.\d{3} /gm, '')
    .split('\n');
const entry = (message: string, more: Partial<LogEntry> = {}): LogEntry => ({
  ...{ clientId: 'run', level: 'INFO', message, ...more },
});

test('EN-23 each line has the seconds since the start and the level of its stream', () => {
  const log = newLog();
  log.writeOut(Buffer.from('one\ntw'));
  log.writeErr(Buffer.from('trouble\n'));
  log.writeOut(Buffer.from('o\nrest'));
  const { tail } = log.finish();
  expect(tail).toMatch(/^\+0\.\d{3} INFO one$/m);
  expect(linesOf(log)).toEqual(['INFO one', 'ERROR trouble', 'INFO two', 'INFO rest', '']);
});

test('lines are in the file while the hook runs', () => {
  const log = newLog();
  log.writeOut(Buffer.from('early\n'));
  expect(linesOf(log)).toEqual(['INFO early', '']);
  log.finish();
});

test('EN-63 a secret is masked in all streams from when it is learned, in base64 too, and in later runs', () => {
  const secrets = new Set<string>();
  const log = newLog(secrets);
  log.writeOut(Buffer.from('swordfish before\n'));
  log.learn(['swordfish']);
  log.writeOut(Buffer.from('sword'));
  log.writeOut(Buffer.from('fish after\n'));
  log.writeErr(Buffer.from('no swordfish\n'));
  log.entry(entry('a swordfish'));
  log.finish();
  expect(linesOf(log)).toEqual([
    'INFO swordfish before',
    'INFO [masked] after',
    'ERROR no [masked]',
    'INFO a [masked]',
    '',
  ]);
  expect([...secrets]).toEqual(['swordfish']);
});

test('a message has its level on each line, and its id and params before the text', () => {
  const log = newLog(new Set(['swordfish']));
  log.entry(entry('one\ntwo', { level: 'WARNING' }));
  log.entry(entry('no\ndatabase', { level: 'ERROR', id: 'no_database', params: ['mysql/0', 'swordfish'] }));
  const { reason } = log.finish();
  expect(linesOf(log)).toEqual([
    'WARNING one',
    'WARNING two',
    'ERROR {"id":"no_database","params":["mysql/0","[masked]"]} no database',
    '',
  ]);
  expect(reason).toEqual({ id: 'no_database', params: ['mysql/0', '[masked]'] });
});

test.each([
  ['no message has an id', [entry('x', { level: 'ERROR' })], null],
  ['the message is no error', [entry('x', { id: 'a' })], null],
  [
    'several are errors, and the last one counts',
    [entry('x', { level: 'ERROR', id: 'a' }), entry('y', { level: 'CRITICAL', id: 'b' }), entry('z', { id: 'c' })],
    { id: 'b', params: [] },
  ],
])('the reason if %s', (_, entries, expected) => {
  const log = newLog();
  for (const each of entries) log.entry(each);
  expect(log.finish().reason).toEqual(expected);
});

test('a reason that the portal could not store is shortened', () => {
  const log = newLog();
  const params = Array.from({ length: 100 }, () => '\u{1f4a9}'.repeat(600));
  log.entry(entry('broken', { level: 'ERROR', id: `a\0${'x'.repeat(60_000)}`, params: ['é', ...params] }));
  const { reason } = log.finish();
  expect(reason?.id).toHaveLength(1024);
  expect(reason?.id.startsWith('a\ufffdx')).toBe(true);
  expect(reason?.params).toHaveLength(32);
  expect(JSON.stringify(reason?.params).length).toBeLessThan(40_000);
});

import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { visitCrashPoints } from './crash-point.ts';
import { SyncedLines } from './synced-lines.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'annex-lines-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function open(path: string, isValid = (_: string): boolean => true): { lines: SyncedLines; read: [string, number][] } {
  const read: [string, number][] = [];
  const lines = new SyncedLines(path, 'a test', (text, offset) => {
    if (!isValid(text)) return false;
    read.push([text, offset]);
    return true;
  });
  return { lines, read };
}

test('lines are read again in their order, up to an incomplete one', () => {
  const path = join(dir, 'incomplete');
  const first = open(path);
  first.lines.append('grün');
  first.lines.appendUnsynced('b');
  first.lines.close();
  appendFileSync(path, 'half');
  const { lines, read } = open(path);
  expect(read).toEqual([
    ['grün', 0],
    ['b', 6],
  ]);
  lines.append('c');
  expect(readFileSync(path, 'utf8')).toBe('grün\nb\nc\n');
  expect(lines.size).toBe(10);
  lines.close();
});

test('an invalid line is deleted with everything after it', () => {
  const path = join(dir, 'invalid');
  appendFileSync(path, 'a\n\0\0\nb\n');
  const { lines, read } = open(path, (text) => text !== '\0\0');
  expect(read).toEqual([['a', 0]]);
  lines.close();
  expect(readFileSync(path, 'utf8')).toBe('a\n');
});

test('a line that cannot be synced leaves the file as it was', () => {
  const path = join(dir, 'unsynced');
  const { lines } = open(path);
  lines.append('a');
  visitCrashPoints((point) => {
    if (point === 'sync a test') throw new Error('the disk failed');
  });
  try {
    expect(() => lines.append('b')).toThrow('the disk failed');
  } finally {
    visitCrashPoints(null);
  }
  expect([lines.size, readFileSync(path, 'utf8')]).toEqual([2, 'a\n']);
  lines.close();
});

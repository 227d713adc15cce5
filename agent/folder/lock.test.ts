import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { visitCrashPoints } from './crash-point.ts';
import { type Layout, layoutOf } from './layout.ts';
import { lockFolder } from './lock.ts';

let layout: Layout;
beforeEach(() => {
  layout = layoutOf(mkdtempSync(join(tmpdir(), 'annex-lock-')));
});
afterEach(() => {
  visitCrashPoints(null);
  rmSync(layout.root, { recursive: true, force: true });
});

/** What a living process that is not this one would write. */
function other(): string {
  const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
  return `${process.ppid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}\n`;
}

test.each(['', '99999999 1\n'])('of two that start at the same time one is refused; before them: %j', (left) => {
  if (left !== '') writeFileSync(layout.lock, left);
  visitCrashPoints((point) => {
    // The other one is quicker by a moment: it finds nobody, too.
    if (point.startsWith('rename ')) writeFileSync(layout.lock, other());
  });
  expect(() => lockFolder(layout)).toThrow(`process ${process.ppid}, works in`);
  expect(readdirSync(layout.root)).toEqual(['agent.pid']);
  expect(readFileSync(layout.lock, 'utf8')).toBe(other());
});

test('what an ended agent left is taken over, and given back', () => {
  writeFileSync(layout.lock, '99999999 1\n');
  const unlock = lockFolder(layout);
  expect(readFileSync(layout.lock, 'utf8')).toMatch(new RegExp(`^${process.pid} \\d+\\n$`));
  expect(readdirSync(layout.root)).toEqual(['agent.pid']);
  unlock();
  expect(existsSync(layout.lock)).toBe(false);
});

test('the lock of another one is not given back', () => {
  const unlock = lockFolder(layout);
  writeFileSync(layout.lock, other());
  unlock();
  expect(readFileSync(layout.lock, 'utf8')).toBe(other());
});

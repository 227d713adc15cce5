import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { visitCrashPoints } from './crash-point.ts';
import { type AgentLayout, layoutOf } from './layout.ts';
import { lockFolder } from './lock.ts';

let layout: AgentLayout;
beforeEach(() => {
  layout = layoutOf(mkdtempSync(join(tmpdir(), 'annex-lock-')));
});
afterEach(() => {
  visitCrashPoints(null);
  rmSync(layout.root, { recursive: true, force: true });
});

/** Returns the content of a lock file that another running process would write. */
function other(): string {
  const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
  return `${process.ppid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}\n`;
}

test.each(['', '99999999 1\n'])(
  'of two agents that start at the same time, one is rejected; existing lock: %j',
  (left) => {
    if (left !== '') writeFileSync(layout.lock, left);
    visitCrashPoints((point) => {
      // Simulates another process that finds no lock either, and is slightly faster.
      if (point.startsWith('rename ')) writeFileSync(layout.lock, other());
    });
    expect(() => lockFolder(layout)).toThrow(`process ${process.ppid}, works in`);
    expect(readdirSync(layout.root)).toEqual(['agent.pid']);
    expect(readFileSync(layout.lock, 'utf8')).toBe(other());
  },
);

test('the lock of an agent that has ended is taken over and released', () => {
  writeFileSync(layout.lock, '99999999 1\n');
  const unlock = lockFolder(layout);
  expect(readFileSync(layout.lock, 'utf8')).toMatch(new RegExp(`^${process.pid} \\d+\\n$`));
  expect(readdirSync(layout.root)).toEqual(['agent.pid']);
  unlock();
  expect(existsSync(layout.lock)).toBe(false);
});

test('the lock of another process is not released', () => {
  const unlock = lockFolder(layout);
  writeFileSync(layout.lock, other());
  unlock();
  expect(readFileSync(layout.lock, 'utf8')).toBe(other());
});

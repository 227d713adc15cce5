import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Journal } from '../journal.ts';
import { Observer } from './observer.ts';

const journal: Journal = { info() {}, warn() {}, note() {} };
const success = JSON.stringify([{ version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status: { status: 'success' } }]);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'annex-observer-'));
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

test('AZ-S5 a success is reported once, even if the file was due again while it was read', async () => {
  const words: (string | null)[] = [];
  const settings = { heartbeatSeconds: 600, statusSeconds: 10, statusAfterConclusion: 'follow' } as const;
  const events = {
    heartbeat() {},
    problem() {},
    status: (_name: string, _sequence: number, _read: unknown, word: string | null) => words.push(word),
  };
  const observer = new Observer(events, journal, settings);
  const path = join(folder, 'status', '1.status');
  mkdirSync(join(folder, 'status'));
  try {
    observer.followStatus('echo', 1, path);
    // The observer reads a partial file again until it is complete.
    writeFileSync(path, success.slice(0, 20));
    const read = observer.readStatus('echo');
    vi.advanceTimersByTime(10_000);
    writeFileSync(path, success);
    expect(await read).toBe('success');
    // This reading waits for the periodic reading that became due during the first reading.
    await observer.readStatus('echo');
  } finally {
    observer.stop();
  }
  expect(words).toEqual(['success']);
});

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { visitCrashPoints } from '../folder/crash-point.ts';
import { momentNow } from '../watch/moment.ts';
import { type Entries, noEntries, Outbox } from './outbox.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'annex-outbox-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const read = (extension: string, word: string) => ({ extension, ageSeconds: 1, readAt: momentNow(), file: [{ word }] });
const beat = (extension: string, word: string): Entries => ({ ...noEntries(), heartbeats: [read(extension, word)] });
const status = (extension: string, word: string): Entries => ({
  ...noEntries(),
  statuses: [{ ...read(extension, word), sequenceNumber: 1 }],
});
const state = (extension: string, word: string): Entries => ({
  ...noEntries(),
  handlers: [{ extension, state: word }],
});

/** Removes all queued reports and returns a line for each, oldest first. */
function waiting(outbox: Outbox): string[] {
  const lines: string[] = [];
  for (let report = outbox.first(); report !== null; report = outbox.first()) {
    lines.push(
      [
        report.reportNumber,
        ...report.handlers.map((one) => `${one.extension} ${one.state}`),
        ...[...report.heartbeats, ...report.statuses].map((one) => `${one.extension} ${JSON.stringify(one.file)}`),
      ].join(' '),
    );
    outbox.remove(report.reportNumber);
  }
  return lines;
}

test('a newer heartbeat replaces a queued one; all states and other statuses are kept, in order', () => {
  const outbox = new Outbox(folder, 'run');
  outbox.add(beat('echo', 'on its way'));
  outbox.add(beat('echo', 'old'));
  outbox.add(state('echo', 'enabling'));
  outbox.add(status('echo', 'transitioning'));
  outbox.add(beat('other', 'kept'));
  outbox.add({ ...beat('echo', 'new'), handlers: [{ extension: 'echo', state: 'enabled' }] });
  outbox.add(status('echo', 'transitioning'));
  outbox.add(status('echo', 'success'));
  expect(waiting(outbox)).toEqual([
    '1 echo [{"word":"on its way"}]',
    '3 echo enabling',
    '5 other [{"word":"kept"}]',
    '6 echo enabled echo [{"word":"new"}]',
    '7 echo [{"word":"transitioning"}]',
    '8 echo [{"word":"success"}]',
  ]);
});

test('the next run continues the queue and its numbers, and deletes unreadable entries', () => {
  const first = new Outbox(folder, 'run-1');
  first.add(state('echo', 'enabling'));
  first.add(state('echo', 'enabled'));
  writeFileSync(join(folder, '000000000001.json'), '{ "run": ');
  writeFileSync(join(folder, '000000000009.json.next'), '{ "run": ');
  const next = new Outbox(folder, 'run-2');
  next.add(state('echo', 'disabling'));
  expect(next.first()).toMatchObject({ run: 'run-1', reportNumber: 2 });
  expect(waiting(next)).toEqual(['2 echo enabled', '3 echo disabling']);
  expect(readdirSync(folder)).toEqual([]);
});

test.each(['ENOSPC', 'EDQUOT'])('%s: a report that does not fit on the disk is still sent, in order', (code) => {
  const outbox = new Outbox(folder, 'run');
  outbox.add(state('echo', 'installing'));
  visitCrashPoints(() => {
    throw Object.assign(new Error('no room'), { code });
  });
  try {
    outbox.add(state('echo', 'failed'));
  } finally {
    visitCrashPoints(null);
  }
  outbox.add(state('echo', 'installing'));
  expect(waiting(outbox)).toEqual(['1 echo installing', '2 echo failed', '3 echo installing']);
});

test('during a long outage the queue keeps the newest of many statuses and of equal problems', () => {
  const outbox = new Outbox(folder, 'run', 5);
  outbox.add(state('echo', 'enabled'));
  for (let step = 0; step < 20; step += 1) {
    outbox.add(status('echo', `step ${step}`));
    outbox.add({ ...noEntries(), problems: [{ about: 'echo', message: 'half a file' }] });
  }
  expect(outbox.size).toBeLessThan(8);
  expect(waiting(outbox)).toContain('40 echo [{"word":"step 19"}]');
  expect(readdirSync(folder)).toEqual([]);
});

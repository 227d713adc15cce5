import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { layoutOf } from '../../folder/layout.ts';
import { PortalRefusal } from '../../portal/portal.ts';
import type { RunLogPiece } from '../../portal/unit-calls.ts';
import { RunLogs } from './run-logs.ts';

const run = '0198c2f4-7b1e-4c3a-9d20-5a1f0b6e4c11';
let root: string;
let file: string;
let stopping: AbortController;
let pieces: string[];
/** What the portal answers: the number of bytes that it has. */
let answer: (piece: RunLogPiece) => number;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'annex-run-logs-'));
  file = join(root, 'run.log');
  stopping = new AbortController();
  pieces = [];
  answer = ({ from, bytes }) => from + bytes.length;
  writeFileSync(file, 'one\n');
});
afterEach(() => {
  stopping.abort();
  rmSync(root, { recursive: true, force: true });
});

function open(): RunLogs {
  return new RunLogs({
    layout: layoutOf(root),
    journal: { info() {}, note() {}, warn() {} },
    portal: {
      sendRunLog: async (_unit, _run, piece) => {
        const received = answer(piece);
        pieces.push(`${piece.from} ${piece.bytes} ${piece.total ?? '*'}`);
        return received;
      },
    },
  });
}

test('EN-66 an output is sent while it grows, and to its end', async () => {
  const logs = open();
  logs.follow('web/0', run, file);
  void logs.run(stopping.signal);
  await until(() => pieces.length === 1);
  appendFileSync(file, 'two\n');
  logs.close(run);
  await logs.drain(10);
  expect(pieces).toEqual(['0 one\n *', '4 two\n 8']);
  expect(logs.isEmpty).toBe(true);
});

test('a restarted agent sends what the portal lacks', async () => {
  open().follow('web/0', run, file);
  answer = ({ from, bytes }) => Math.max(3, from + bytes.length);
  const logs = open();
  void logs.run(stopping.signal);
  await logs.drain(10);
  expect(pieces).toEqual(['0 one\n 4']);
  expect(open().isEmpty).toBe(true);
});

test('an output that the portal rejects, or that was deleted, stays on the machine only', async () => {
  answer = () => {
    throw new PortalRefusal({ status: 404, headers: {}, text: '' });
  };
  const logs = open();
  logs.follow('web/0', run, file);
  logs.follow('web/0', '0198c2f4-7b1e-4c3a-9d20-5a1f0b6e4c12', join(root, 'deleted.log'));
  logs.close('0198c2f4-7b1e-4c3a-9d20-5a1f0b6e4c12');
  void logs.run(stopping.signal);
  await logs.drain(10);
  expect([pieces, logs.isEmpty]).toEqual([[], true]);
});

async function until(isTrue: () => boolean): Promise<void> {
  const end = Date.now() + 10_000;
  while (!isTrue()) {
    if (Date.now() > end) throw new Error('nothing was sent');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

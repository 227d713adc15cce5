import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { executionEnvelope } from '#protocol/executions/index.ts';
import { layoutOf } from '../folder/layout.ts';
import { Inbox } from './inbox.ts';

let dir: string;
let inbox: Inbox;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'annex-inbox-'));
  inbox = new Inbox(layoutOf(dir));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const receive = (planId: unknown, stamp: number, id = `e-${stamp}`) => {
  const plan = { FormatVersion: '2.0.0', ID: planId };
  const text = JSON.stringify({ protocol: 1, id, stamp, turn: 1, timeoutSeconds: 60, plan, files: {} });
  return inbox.receive(text, executionEnvelope.parse(JSON.parse(text)));
};

test('MU-11 what was received is found again, until it is closed', () => {
  const { open, reception } = receive('a', 1);
  expect(reception).toBe('new');
  expect(new Inbox(layoutOf(dir)).readOpen()).toMatchObject({ planId: 'a', text: open.text, result: null });
  inbox.conclude(open, '{"x":1}');
  expect(new Inbox(layoutOf(dir)).readOpen()).toMatchObject({ planId: 'a', result: '{"x":1}' });
  inbox.close(open);
  expect(new Inbox(layoutOf(dir)).readOpen()).toBeNull();
});

test('MU-10 MU-26 an ID that was answered gets the same bytes, even after a restart', () => {
  const { open } = receive('a', 1);
  inbox.conclude(open, '{"ID":"r"}');
  inbox.close(open);
  const again = new Inbox(layoutOf(dir));
  inbox = again;
  const second = receive('a', 7, 'another');
  expect(second).toMatchObject({ reception: 'answered', open: { result: '{"ID":"r"}', envelope: { id: 'another' } } });
  expect(again.readOpen()?.result).toBe('{"ID":"r"}');
});

test('MU-25 an ID with a path touches nothing outside of the folder, a number is no ID', () => {
  const { open } = receive('../../x', 1);
  inbox.conclude(open, '{}');
  expect(readdirSync(join(dir, 'executions')).sort()).toEqual([expect.stringMatching(/^1-[0-9a-f]{16}$/), 'answers']);
  expect(readdirSync(dir)).toEqual(['executions']);
  expect(receive(5, 2).open.planId).toBe('e-2');
});

test('a plan whose answer was cleared is stale and never runs again', () => {
  for (const stamp of [3, 4]) {
    const { open } = receive(`p-${stamp}`, stamp);
    inbox.conclude(open, '{}');
    inbox.close(open);
  }
  const answers = join(dir, 'executions', 'answers');
  const old = new Date(Date.now() - 31 * 24 * 3600_000);
  for (const name of readdirSync(answers)) utimesSync(join(answers, name), old, old);
  const { open } = receive('p-9', 9);
  inbox.conclude(open, '{}');
  inbox.close(open);
  expect(receive('p-3', 3).reception).toBe('stale');
  expect(receive('p-5', 5).reception).toBe('new');
});

test('a folder that was never acknowledged is deleted', () => {
  const folder = join(dir, 'executions', '5-0000');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'plan.json.next'), '{');
  expect(inbox.readOpen()).toBeNull();
  expect(existsSync(folder)).toBe(false);
});

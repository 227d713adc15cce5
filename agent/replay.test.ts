import { afterEach, beforeEach, expect, test } from 'vitest';
import { epochOf, replayFault, withNewest } from './goal/newest.ts';
import { type TestMachine, testMachine } from './testing/machine.ts';

const echo = { handler: 'Acme.Test.Echo', version: '1.0.0.0' };
let machine: TestMachine;

beforeEach(async () => {
  machine = await testMachine();
});
afterEach(() => machine.close());

function give(incarnation: number, epoch = 'e'): void {
  const text = JSON.stringify({ protocol: 1, vmId: machine.portal.vmId, incarnation, extensions: [] });
  machine.portal.setGoalText(text, `"${epoch}.${incarnation}"`);
}
const applied = (incarnation: number) => machine.lines.filter((line) => line.includes(`Goal state ${incarnation}:`));
const problems = () => machine.portal.reports.flatMap(({ problems = [] }) => problems);

test('a replayed goal state is rejected and reported; the newer one remains current', async () => {
  give(5);
  await machine.start();
  await machine.until('5', () => applied(5).length === 1);
  give(4);
  const { about, message } = await machine.portal.until('the problem', () => problems()[0]);
  expect(about).toBe('goal-state');
  expect(message).toContain('Goal state 4 is older than 5');
  expect(machine.lines.join('\n')).toContain('Goal state 4 is older than 5');
  give(5);
  give(6);
  await machine.until('6', () => applied(6).length === 1);
  expect(applied(4)).toEqual([]);
  expect(applied(5)).toHaveLength(1);
});

test('an agent remembers the newest goal state after a restart', async () => {
  give(5);
  await machine.start();
  await machine.until('5', () => applied(5).length === 1);
  await machine.stop();
  give(4);
  await machine.start();
  await machine.portal.until('the problem', () => problems()[0]);
  expect(applied(4)).toEqual([]);
  expect(applied(5)).toHaveLength(2);
});

test('a lower incarnation in a new epoch, after a database was restored, is applied', async () => {
  await machine.addHandler(echo);
  give(5);
  await machine.start();
  await machine.until('5', () => applied(5).length === 1);
  give(3, 'restored');
  await machine.until('3', () => applied(3).length === 1);
  // The original database is back: 4 is a replay, and 6 continues after its last incarnation.
  give(4);
  await machine.portal.until('the problem', () => problems()[0]);
  give(6);
  await machine.until('6', () => applied(6).length === 1);
});

test.each<[string, string | null]>([
  ['"k3.17"', 'k3'],
  ['"a.b.17"', 'a.b'],
  ['"17"', null],
  ['"e1-0a3b"', null],
  ['', null],
])('the epoch of %s is %s', (etag, epoch) => {
  expect(epochOf(etag)).toBe(epoch);
});

test('an ETag without an epoch is accepted, and only a few epochs are remembered', () => {
  expect(replayFault({ e: 5 }, '"4"', 4)).toBeNull();
  let newest = {};
  for (let epoch = 0; epoch < 100; epoch += 1) newest = withNewest(newest, `"e${epoch}.7"`, 7);
  expect(Object.keys(newest)).toHaveLength(16);
  expect(replayFault(newest, '"e99.6"', 6)).not.toBeNull();
});

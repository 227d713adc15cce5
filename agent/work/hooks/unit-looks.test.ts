import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newUnitRecord, type UnitState } from '#protocol/index.ts';
import { layoutOf } from '../../folder/layout.ts';
import type { HeldUnitState } from '../../portal/unit-calls.ts';
import { deskCalls } from '../../testing/desk-calls.ts';
import { UnitDesk } from '../../testing/unit-desk.ts';
import { readStoredUnitState, UnitLooks } from './unit-looks.ts';

let root: string;
let desk: UnitDesk;
let stopping: AbortController;
let states: UnitState[];
let asked: HeldUnitState[];
let problems: string[];
let warnings: string[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'annex-looks-'));
  desk = new UnitDesk('vm');
  stopping = new AbortController();
  [states, asked, problems, warnings] = [[], [], [], []];
  desk.set(3, 'mysql/0');
  desk.want({ unit: 'web/0', formula: UnitDesk.formula('1.0', Buffer.from('zip'), []), relations: [[3, 'db']] });
});
afterEach(() => {
  stopping.abort();
  rmSync(root, { recursive: true, force: true });
});

/** Returns looks, and a function that waits until the next look has ended. */
function open(): { looks: UnitLooks; next(): Promise<void> } {
  let looked = Promise.withResolvers<void>();
  const calls = deskCalls(desk);
  const looks = new UnitLooks({
    layout: layoutOf(root),
    journal: { info() {}, note() {}, warn: (line) => warnings.push(line) },
    portal: {
      unitState: (held, signal) => {
        asked.push(held);
        return calls.unitState(held, signal);
      },
    },
    boot: 'first',
    recordOf: () => newUnitRecord('first'),
    onState: (state) => states.push(state),
    onLooked: () => {
      looked.resolve();
      looked = Promise.withResolvers();
    },
    onProblem: (message) => problems.push(message),
  });
  return { looks, next: () => looked.promise };
}

test('the unit state is on disk before it is current, and the next look asks for what changed', async () => {
  const { looks, next } = open();
  expect([looks.stamp, looks.hasLooked]).toEqual([null, false]);
  const first = next();
  void looks.run(stopping.signal);
  await first;
  expect([looks.stamp, looks.hasLooked]).toEqual(['e1.1.1', true]);
  expect(states.map(({ units }) => units.map(({ unit }) => unit))).toEqual([['web/0']]);
  expect(readStoredUnitState(layoutOf(root))).toMatchObject({ stamp: 'e1.1.1', state: { epoch: 'e1' } });

  desk.set(3, 'mysql/1');
  const second = next();
  looks.note({ stamp: desk.stamp, after: 0 });
  await second;
  expect(asked).toEqual([{ boot: 'first' }, { boot: 'first', epoch: 'e1', after: '3:1' }]);
  const members = states.at(-1)?.units[0]?.relations[0]?.members;
  expect(members?.map(({ unit }) => unit)).toEqual(['mysql/0', 'mysql/1']);
});

test('a stamp that is known causes no look, and a restarted agent knows its unit state', async () => {
  const { looks, next } = open();
  const first = next();
  void looks.run(stopping.signal);
  await first;
  looks.note({ stamp: 'e1.1.1', after: 0 });
  looks.note({ stamp: null, after: 0 });
  expect(asked).toHaveLength(1);
  stopping.abort();

  const again = open();
  again.looks.begin();
  expect(again.looks.stamp).toBe('e1.1.1');
  expect(states).toHaveLength(2);
});

test('a unit state that cannot be read is a problem, and the last valid one stays', async () => {
  const { looks, next } = open();
  const first = next();
  void looks.run(stopping.signal);
  await first;
  desk.refusals.set('GET /agent/v1/units', { status: 200, body: { protocol: 1, units: [{ unit: '../x' }] } });
  for (const stamp of ['e1.2.0', 'e1.3.0']) {
    const looked = next();
    looks.note({ stamp, after: 0 });
    await looked;
  }
  expect(problems).toEqual([expect.stringContaining('The unit state cannot be read')]);
  expect(warnings).toEqual(problems);
  expect(states).toHaveLength(1);
  // The poll has the stamp that the portal last sent, so that the portal holds it.
  expect(looks.stamp).toBe('e1.3.0');
});

test('a portal without units gets no further request, and the poll has no stamp', async () => {
  desk.refusals.set('GET', { status: 404, body: {} });
  const { looks, next } = open();
  const first = next();
  void looks.run(stopping.signal);
  await first;
  expect([looks.stamp, states, problems, warnings]).toEqual([null, [], [], []]);
});

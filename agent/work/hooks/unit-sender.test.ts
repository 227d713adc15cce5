import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type DueHook, hooksDue, type UnitRunEnd } from '#protocol/index.ts';
import { layoutOf } from '../../folder/layout.ts';
import { deskCalls } from '../../testing/desk-calls.ts';
import { UnitDesk } from '../../testing/unit-desk.ts';
import { UnitStage } from '../../testing/unit-stage.ts';
import { LocalUnit } from '../../unit/local-unit.ts';
import { newUnitFile, readUnitFile } from '../../unit/unit-file.ts';
import { unitPathsOf } from '../../unit/unit-paths.ts';
import { Outcomes } from './outcomes.ts';
import { UnitSender } from './unit-sender.ts';

const run = '0198c2f4-7b1e-4c3a-9d20-5a1f0b6e4c11';
const ended: UnitRunEnd = {
  ...{ phase: 'end', exitCode: 0, signal: null, timedOut: false, seconds: 1, output: '', views: [], reason: null },
};
const { goal } = new UnitStage();

let root: string;
let desk: UnitDesk;
let unit: LocalUnit;
let outcomes: Outcomes;
let sender: UnitSender;
let due: DueHook;
let events: string[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'annex-sender-'));
  const layout = layoutOf(root);
  desk = new UnitDesk('vm');
  desk.want({ ...goal, relations: [] });
  const readNode = () => Promise.reject(new Error('no hook runs'));
  const paths = unitPathsOf(layout, goal.unit);
  unit = new LocalUnit(newUnitFile(goal.unit, 'first'), { paths, readNode, log() {}, onFault() {} });
  unit.goal = { ...goal, relations: [] };
  [due] = hooksDue(unit.goal, unit.record) as [DueHook];
  outcomes = new Outcomes(layout);
  events = [];
  sender = new UnitSender({
    ...{ outcomes, signal: AbortSignal.timeout(60_000), portal: deskCalls(desk), units: () => [unit] },
    journal: { info() {}, note() {}, warn() {} },
    onSettled: () => events.push('settled'),
    onGone: () => events.push('gone'),
    onRemoved: () => events.push('removed'),
    onAlive: () => events.push('alive'),
    onProblem: (message) => events.push(message),
  });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const begin = () => desk.answer('PUT', `/agent/v1/units/${unit.name}/runs/${run}`, new URLSearchParams(), beginBody());
const beginBody = () =>
  Buffer.from(JSON.stringify({ phase: 'begin', hook: due.hook, attempt: 1, formula: '1.2', timeoutSeconds: 9 }));
const addOutcome = (end: Partial<UnitRunEnd> = {}) =>
  outcomes.add({ unit: unit.name, run, due, end: { ...ended, ...end } });
const onDisk = () => readUnitFile(unit.paths.file);

describe('the outcome of a hook', () => {
  test('EN-59 is recorded when the portal has it, even if it is sent again', async () => {
    begin();
    addOutcome({ ports: { open: ['80/tcp'], close: [] } });
    expect(sender.mustWaitFor(unit)).toBe(true);
    expect(await sender.send(unit)).toBe(true);
    expect(onDisk()).toMatchObject({ record: { formula: '1.2' }, ports: ['80/tcp'] });
    expect([sender.mustWaitFor(unit), events]).toEqual([false, ['settled']]);
    addOutcome({ ports: { open: ['80/tcp'], close: [] } });
    expect(await sender.send(unit)).toBe(true);
    expect(onDisk()).toMatchObject({ record: { formula: '1.2' }, ports: ['80/tcp'] });
    expect(desk.runs).toMatchObject([{ outcome: 'succeeded', ends: 2 }]);
  });

  test('EN-46 counts one failure, however often it is sent', async () => {
    begin();
    for (let count = 0; count < 2; count += 1) {
      addOutcome({ exitCode: 3 });
      expect(await sender.send(unit)).toBe(true);
    }
    expect(onDisk()?.record.failing).toMatchObject({ unit: { run, failures: 1 } });
  });

  test('is kept on disk while the portal does not take it', async () => {
    desk.refusals.set('PUT', { status: 503, body: { code: 'busy' } });
    addOutcome();
    expect(await sender.send(unit)).toBe(false);
    expect(new Outcomes(layoutOf(root)).of(unit.name)).toMatchObject({ run, due, end: ended });
    expect([sender.mustWaitFor(unit), events]).toEqual([true, []]);
  });

  test.each([
    [422, 'port_conflict', []],
    [413, 'body_too_large', [expect.stringContaining('the portal rejected the outcome of install')]],
  ])('that is rejected with %i counts as a failure', async (status, code, problems) => {
    desk.refusals.set('PUT', { status, body: { code, title: code } });
    addOutcome();
    expect(await sender.send(unit)).toBe(true);
    expect(onDisk()?.record).toMatchObject({ formula: null, failing: { unit: { run, failures: 1 } } });
    expect(events).toEqual([...problems, 'settled']);
  });

  test.each([
    ['run_superseded', []],
    ['run_unknown', []],
    ['unit_gone', ['gone']],
  ])('EN-58 that is dropped with %s leaves the hook due, after a pause', async (code, gone) => {
    desk.refusals.set('PUT', { status: 409, body: { code } });
    addOutcome();
    expect(await sender.send(unit)).toBe(true);
    expect(unit.record).toMatchObject({ formula: null, failing: {} });
    expect(sender.pauseOf(unit)).toBeGreaterThan(Date.now());
    expect(events).toEqual([...gone, 'settled']);
    expect(readdirSync(layoutOf(root).flushes)).toEqual([]);
  });
});

test('EN-44 skipped hooks are sent in parts, with the boot, and then forgotten', async () => {
  const hooks = Array.from({ length: 501 }, (_, number) => ({ hook: 'db-relation-joined', version: number }));
  unit.skip(unit.record, hooks);
  expect(sender.mustWaitFor(unit)).toBe(true);
  expect(await sender.send(unit)).toBe(true);
  expect(desk.skipped).toHaveLength(501);
  expect(onDisk()?.skipped).toEqual([]);
});

describe('a unit that left', () => {
  test('is forgotten when the portal knows', async () => {
    desk.want({ unit: unit.name, goal: 'leaving' });
    unit.save({ isRemoved: true });
    expect(await sender.send(unit)).toBe(true);
    expect([desk.removed, events]).toEqual([[unit.name], ['removed', 'settled']]);
    expect(existsSync(unit.paths.file)).toBe(false);
  });

  test('is installed again if it should be there', async () => {
    unit.save({ isRemoved: true });
    expect(await sender.send(unit)).toBe(true);
    expect(events).toEqual(['alive', 'settled']);
    expect(existsSync(unit.paths.file)).toBe(true);
  });
});

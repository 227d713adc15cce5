import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { failHook, hooksDue, maxSkippedHooks, type UnitGoal } from '#protocol/index.ts';
import { layoutOf } from '../../folder/layout.ts';
import { UnitStage } from '../../testing/unit-stage.ts';
import { LocalUnit } from '../../unit/local-unit.ts';
import { newUnitFile } from '../../unit/unit-file.ts';
import { formulaRootOf, unitPathsOf } from '../../unit/unit-paths.ts';
import { stepOf } from './unit-step.ts';

let root: string;
let unit: LocalUnit;
let goal: UnitGoal;
const now = 1_000_000;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'annex-step-'));
  const readNode = () => Promise.reject(new Error('no hook runs'));
  const paths = unitPathsOf(layoutOf(root), 'wordpress/1');
  unit = new LocalUnit(newUnitFile('wordpress/1', 'first'), { paths, readNode, log() {}, onFault() {} });
  const stage = new UnitStage();
  goal = { ...stage.goal, formula: { ...stage.goal.formula, hooks: ['install', 'start'] }, relations: [] };
  unit.goal = goal;
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const step = (change: Partial<UnitGoal> = {}) => stepOf(unit, { ...goal, ...change }, now);
const fail = (failures: number) => {
  for (let count = 0; count < failures; count += 1) {
    const [due] = hooksDue(goal, unit.record);
    if (due !== undefined) unit.save({ record: failHook(unit.record, due, { run: `run-${count}`, now }) });
  }
};
const unpack = (version = '1.2', hooks: string[] = ['install', 'start']) => {
  const folder = join(formulaRootOf(unit.paths, version), 'hooks');
  mkdirSync(folder, { recursive: true });
  for (const hook of hooks) writeFileSync(join(folder, hook), '');
  unit.noteFormula(version, goal.formula.package.sha256);
};

test('a hook needs the formula of this package', () => {
  expect(step()).toEqual({ act: 'fetch' });
  unit.noteFormula('1.2', '0'.repeat(64));
  expect(step()).toEqual({ act: 'fetch' });
  unpack();
  expect(step()).toMatchObject({ act: 'run', attempt: 1, due: { hook: 'install', formula: '1.2' } });
});

test('no hook runs, and none is noted as done, until the protected settings are released', () => {
  unpack();
  expect(step({ needsRelease: true })).toEqual({ act: 'rest' });
  expect(step({ needsRelease: true, formula: { ...goal.formula, hooks: [] } })).toEqual({ act: 'rest' });
  expect(unit.skipped).toEqual([]);
  expect(step()).toMatchObject({ act: 'run', due: { hook: 'install' } });
});

test('EN-44 hooks without a file are noted for the portal in one step, and need no formula', () => {
  const formula = { ...goal.formula, hooks: [] };
  expect(step({ formula })).toEqual({ act: 'rest' });
  expect(unit.record).toMatchObject({ formula: '1.2', configured: { settings: 4 }, started: { boot: 'first' } });
  expect(unit.skipped).toEqual([
    { hook: 'install', formula: '1.2' },
    { hook: 'config-changed', version: 4, address: null, formula: '1.2' },
    { hook: 'start', formula: '1.2' },
  ]);
});

test('at most as many hooks are noted as fit into one request', () => {
  const members = Array.from({ length: 600 }, (_, number) => ({ unit: `mysql/${number}`, version: 1, clock: number }));
  const relation = { id: 3, name: 'db', interface: 'mysql', life: 'alive' as const, clock: 600, whole: true, members };
  const change = { formula: { ...goal.formula, hooks: [] }, relations: [relation] };
  expect(step(change)).toEqual({ act: 'rest' });
  expect(unit.skipped).toHaveLength(maxSkippedHooks);
});

test('EN-46 a hook that failed waits, and EN-49 an operator ends the delay or skips the hook', () => {
  unpack();
  fail(1);
  const waiting = step();
  expect(waiting).toMatchObject({ act: 'wait' });
  expect(waiting.act === 'wait' && waiting.until - now).toBeLessThanOrEqual(5_000);
  const resolution = (how: 'retry' | 'skip', run = 'run-0') => ({ resolution: { run, how } });
  expect(step(resolution('retry', 'another-run'))).toMatchObject({ act: 'wait' });
  expect(step(resolution('retry'))).toMatchObject({ act: 'run', attempt: 2 });
  const several = {
    resolutions: [
      { run: 'run-0', how: 'retry' as const },
      { run: 'another-run', how: 'skip' as const },
    ],
  };
  expect(step({ ...resolution('skip', 'another-run'), ...several })).toMatchObject({ act: 'run', attempt: 2 });
  expect(step(resolution('skip'))).toMatchObject({ act: 'run', due: { hook: 'start' } });
  expect(unit.skipped).toMatchObject([{ hook: 'install', run: 'run-0' }, { hook: 'config-changed' }]);
  expect(unit.record.skipped).toEqual(['install']);
});

test('EN-51 a leaving unit runs hooks of the formula that it has, and none if the formula is gone', () => {
  const leaving = { goal: 'leaving' as const, formula: { ...goal.formula, version: '1.3', hooks: ['stop'] } };
  expect(step(leaving)).toEqual({ act: 'remove' });
  unit.save({ record: { ...unit.record, formula: '1.2', started: { boot: 'first' } } });
  unpack('1.2', ['stop']);
  expect(step(leaving)).toMatchObject({ act: 'run', due: { hook: 'stop', formula: '1.2' } });
  unit.save({ formulas: {} });
  expect(step(leaving)).toEqual({ act: 'remove' });
  expect(unit.skipped).toEqual([{ hook: 'stop', formula: '1.2' }]);
});

test('a hook that an earlier version of the formula does not have counts as done', () => {
  unit.save({ record: { ...unit.record, formula: '1.1', started: { boot: 'first' } } });
  unpack('1.1', []);
  expect(step({ goal: 'leaving' })).toEqual({ act: 'remove' });
});

import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  afterRepeat,
  explanations,
  filesToRepeat,
  lastLine,
  playwrightTotals,
  stepTotals,
  vitestTotals,
} from './test-totals.ts';

const file = (status: string, ...results: string[]) => ({
  name: 'a.test.ts',
  status,
  assertionResults: results.map((result, index) => ({ status: result, fullName: `test ${index}` })),
});

describe('vitest', () => {
  test.each([
    ['all pass', [file('passed', 'passed', 'passed')], 0, 2, 0],
    ['one fails', [file('failed', 'passed', 'failed')], 1, 1, 1],
    ['a file does not load', [file('passed', 'passed'), file('failed')], 1, 1, 1],
    ['a skipped test is a failure', [file('passed', 'passed', 'skipped')], 0, 1, 1],
    ['a pending test is a failure', [file('passed', 'passed', 'pending', 'todo')], 0, 1, 2],
    ['an error outside of tests', [file('passed', 'passed')], 1, 1, 1],
    ['a hook after the tests fails', [file('failed', 'passed')], 1, 1, 1],
    ['no test at all', [], 0, 0, 1],
  ])('%s', (_, testResults, exitCode, passed, failed) => {
    expect(vitestTotals({ testResults }, exitCode)).toMatchObject({ passed, failed });
  });

  test('a missing report counts as one failure', () => {
    expect(vitestTotals(undefined, 1)).toMatchObject({ passed: 0, failed: 1 });
  });
});

describe('Playwright', () => {
  const stats = { expected: 3, unexpected: 0, flaky: 0, skipped: 0 };
  test.each([
    ['all pass', stats, [], 0, 3, 0],
    ['one fails', { ...stats, unexpected: 1 }, [], 1, 3, 1],
    ['a flaky one', { ...stats, flaky: 1 }, [], 0, 3, 1],
    ['a skipped one', { ...stats, skipped: 2 }, [], 0, 3, 2],
    ['an error outside of tests', stats, [{ message: 'boom\nat x' }], 1, 3, 1],
    ['an exit code alone', stats, [], 1, 3, 1],
    ['no test at all', { ...stats, expected: 0 }, [], 0, 0, 1],
  ])('%s', (_, given, errors, exitCode, passed, failed) => {
    expect(playwrightTotals({ stats: given, errors }, exitCode)).toMatchObject({ passed, failed });
  });
});

test('the last line is the sum, and a failed step counts once', () => {
  const suites = [
    stepTotals(0),
    stepTotals(2),
    { passed: 5, failed: 1, failures: [], notes: [] },
    { passed: 7, failed: 0, failures: [], notes: [] },
  ];
  expect(lastLine(suites)).toBe('12 passed, 2 failed');
});

describe('a second run', () => {
  const failing = (...names: string[]) => ({
    name: 'a.test.ts',
    status: names.length > 0 ? 'failed' : 'passed',
    assertionResults: ['one', 'two', 'three'].map((fullName) => ({
      status: names.includes(fullName) ? 'failed' : 'passed',
      fullName,
      failureMessages: names.includes(fullName) ? [`Error: ${fullName} is late\n    at x`] : [],
    })),
  });
  const first = vitestTotals({ testResults: [failing('two', 'three')] }, 1);

  test('a test that passes the second time counts as passed and is listed with its error', () => {
    expect(filesToRepeat(first)).toEqual(['a.test.ts']);
    const totals = afterRepeat(first, vitestTotals({ testResults: [failing('three')] }, 1));
    expect(totals).toMatchObject({ passed: 2, failed: 1 });
    expect(explanations(totals)).toEqual([
      'failed: a.test.ts: three: Error: three is late',
      'passed only the second time: a.test.ts: two: Error: two is late',
    ]);
    expect(afterRepeat(first, vitestTotals({ testResults: [failing()] }, 0))).toMatchObject({ passed: 3, failed: 0 });
  });

  test('a second run that does not start clears nothing', () => {
    const totals = afterRepeat(first, vitestTotals(undefined, 130));
    expect(totals).toMatchObject({ passed: 1, failed: 2 });
    expect(explanations(totals)).toContain('failed: a.test.ts: two: Error: two is late');
  });

  test('a failed journey is repeated by its file', () => {
    const spec = { title: 'it opens', file: 'vm.spec.ts', ok: false };
    const tests = [{ results: [{ errors: [{ message: '\u001b[31mError\u001b[39m: no row\nat y' }] }] }];
    const stats = { expected: 3, unexpected: 1, flaky: 0, skipped: 0 };
    const suites = [{ suites: [{ specs: [{ ...spec, tests }] }] }];
    const totals = playwrightTotals({ stats, errors: [], suites }, 1);
    expect(filesToRepeat(totals)).toEqual(['vm.spec.ts']);
    expect(explanations(totals)).toEqual(['failed: vm.spec.ts: it opens: Error: no row']);
  });

  test.each([
    ['a test was skipped', [failing('one'), file('passed', 'passed', 'skipped')]],
    ['many files failed', ['a', 'b', 'c', 'd'].map((name) => ({ ...failing('one'), name }))],
    ['nothing failed', [failing()]],
  ])('nothing is repeated if %s', (_, testResults) => {
    expect(filesToRepeat(vitestTotals({ testResults }, 1))).toEqual([]);
  });
});

describe('.ci/run', () => {
  const run = path.resolve(import.meta.dirname, '../.ci/run');
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'annex-ci-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs `.ci/run` with a fake `npm` that executes this script. */
  function withNpm(script: string) {
    const npm = path.join(folder, 'npm');
    writeFileSync(npm, `#!/bin/sh\n${script}\n`);
    chmodSync(npm, 0o755);
    mkdirSync(path.join(folder, '.ci'), { recursive: true });
    writeFileSync(path.join(folder, '.ci/base-system'), 'exec "$@"\n');
    copyFileSync(run, path.join(folder, '.ci/run'));
    const { status, stdout } = spawnSync(path.join(folder, '.ci/run'), {
      env: { ...process.env, PATH: `${folder}:/usr/bin:/bin` },
      encoding: 'utf8',
    });
    return { status, last: stdout.trimEnd().split('\n').at(-1) };
  }

  test('ends with the totals and keeps the exit code, whatever npm prints after them', () => {
    expect(withNpm('echo "3 passed, 1 failed"; echo "npm error Test failed." >&2; exit 7')).toEqual({
      status: 7,
      last: '3 passed, 1 failed',
    });
    expect(withNpm('echo "1 passed, 0 failed"; echo "9 passed, 0 failed"; echo')).toEqual({
      status: 0,
      last: '9 passed, 0 failed',
    });
  });

  test('missing totals are a failure', () => {
    expect(withNpm('exit 3')).toEqual({ status: 3, last: '0 passed, 1 failed' });
    expect(withNpm('exit 0')).toEqual({ status: 1, last: '0 passed, 1 failed' });
  });
});

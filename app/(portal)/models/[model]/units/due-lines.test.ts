import { describe, expect, it } from 'vitest';
import { canRunAgain, dueLines, runningAttempt } from './due-lines.ts';
import type { ShownDue, ShownFailure, ShownRun } from './unit-data.ts';

const due = (hook: string, relation: number | null = null, remoteUnit: string | null = null): ShownDue => ({
  ...{ hook, relation, remoteUnit, because: 'changed', version: null, hasFile: true, waitsFor: null },
});
const failure = (hook: string, relation: number | null = null, remoteUnit: string | null = null): ShownFailure => ({
  ...{ hook, run: 'r', failures: 1, outcome: 'failed', exitCode: 1, since: '', remoteUnit, failedAt: null },
  ...{ relation: relation === null ? null : { id: relation, number: 1, name: 'db' } },
  ...{ nextAttemptBefore: null, resolution: null },
});
const states = (...given: Parameters<typeof dueLines>) =>
  dueLines(...given).map(({ state }) => (state.kind === 'after' ? `after ${state.number}` : state.kind));

describe('EN-47 what hooks that are due wait for', () => {
  it.each<[string, ShownDue[], ShownFailure[], string[]]>([
    [
      'the first hooks of a unit',
      [due('install'), due('config-changed'), due('start')],
      [],
      ['turn', 'after 1', 'after 2'],
    ],
    ['a hook of the unit that fails', [due('install'), due('start')], [failure('install')], ['retry', 'after 1']],
    [
      'a relation that fails, and another one',
      [
        due('db-relation-changed', 3, 'a/0'),
        due('db-relation-changed', 3, 'a/1'),
        due('web-relation-joined', 4, 'c/0'),
      ],
      [failure('db-relation-changed', 3, 'a/0')],
      ['retry', 'after 1', 'turn'],
    ],
    [
      'the same hook for another member',
      [due('db-relation-changed', 3, 'a/1'), due('db-relation-changed', 3, 'a/0')],
      [failure('db-relation-changed', 3, 'a/0')],
      ['turn', 'retry'],
    ],
    [
      'relations behind a hook of the unit',
      [due('config-changed'), due('db-relation-changed', 3, 'a/0')],
      [failure('db-relation-changed', 3, 'a/0')],
      ['turn', 'retry'],
    ],
    ['nothing', [], [failure('start')], []],
  ])('%s', (_, hooks, failing, expected) => {
    expect(states(hooks, failing, undefined)).toEqual(expected);
  });

  it('a hook that runs', () => {
    const running = { hook: 'db-relation-changed', remoteUnit: 'a/0' } as ShownRun;
    const hooks = [due('db-relation-changed', 3, 'a/0'), due('db-relation-changed', 3, 'a/1')];
    expect(states(hooks, [failure('db-relation-changed', 3, 'a/0')], running)).toEqual(['running', 'after 1']);
  });
});

describe('a hook that fails', () => {
  const failing = failure('config-changed');

  it('can run again while it is due', () => {
    expect(canRunAgain(dueLines([due('config-changed')], [failing], undefined), failing)).toBe(true);
    expect(canRunAgain(dueLines([due('start')], [failing], undefined), failing)).toBe(false);
  });

  it('can run again if the hooks that are due did not load', () => {
    expect(canRunAgain(undefined, failing)).toBe(true);
  });
});

describe('the next attempt of a hook that fails', () => {
  const hooks = [due('db-relation-changed', 3, 'a/0'), due('db-relation-changed', 3, 'a/1')];
  const running = { hook: 'db-relation-changed', remoteUnit: 'a/0' } as ShownRun;

  it.each<[string, ShownFailure, ShownRun | undefined, ShownRun | undefined]>([
    ['runs', failure('db-relation-changed', 3, 'a/0'), running, running],
    ['does not run while another one does', failure('db-relation-changed', 3, 'a/1'), running, undefined],
    ['does not run', failure('db-relation-changed', 3, 'a/0'), undefined, undefined],
  ])('%s', (_, failing, run, expected) => {
    expect(runningAttempt(dueLines(hooks, [failing], run), failing)).toBe(expected);
  });
});

import { describe, expect, it } from 'vitest';
import { dueLines } from './due-lines.ts';
import { type SkipEffects, skipEffects } from './skip-effects.ts';
import type { ShownDue, ShownFailure } from './unit-data.ts';

const due = (hook: string, relation: number | null = null, remoteUnit: string | null = null): ShownDue => ({
  ...{ hook, relation, remoteUnit, because: 'changed', version: null, hasFile: true, waitsFor: null },
});
const failureOf = ({ hook, relation, remoteUnit }: ShownDue): ShownFailure => ({
  ...{ hook, run: 'r', failures: 3, outcome: 'failed', exitCode: 1, since: '', remoteUnit, failedAt: null },
  ...{ relation: relation === null ? null : { id: relation, number: 1, name: 'db' } },
  ...{ nextAttemptBefore: null, resolution: null },
});

/** Returns what skipping the first of these hooks means. */
function effectsOf(...hooks: [ShownDue, ...ShownDue[]]): SkipEffects {
  const failure = failureOf(hooks[0]);
  return skipEffects(failure, dueLines(hooks, [failure], undefined));
}

describe('EN-49 skipping', () => {
  it.each([
    ['install', null, 'install', 'never'],
    ['upgrade-formula', null, 'upgrade', 'upgrade'],
    ['config-changed', null, 'config', 'settings'],
    ['start', null, 'start', 'reboot'],
    ['stop', null, 'stop', 'never'],
    ['db-relation-joined', 3, 'joined', 'never'],
    ['db-relation-changed', 3, 'changed', 'changed'],
    ['db-relation-departed', 3, 'departed', 'never'],
    ['my-db-relation-broken', 3, 'broken', 'never'],
  ] as const)('%s of relation %j counts as %s and comes again %s', (hook, relation, counts, again) => {
    expect(effectsOf(due(hook, relation))).toEqual({ counts, again, next: null });
  });

  it('names the next hook of the unit', () => {
    expect(effectsOf(due('install'), due('config-changed'), due('start')).next?.hook).toBe('config-changed');
  });

  it('names the next hook of the same relation only', () => {
    const next = due('db-relation-changed', 3, 'a/1');
    expect(effectsOf(due('db-relation-changed', 3, 'a/0'), due('web-relation-joined', 4, 'c/0'), next).next).toBe(next);
    expect(effectsOf(due('db-relation-changed', 3, 'a/0'), due('web-relation-joined', 4, 'c/0')).next).toBeNull();
  });

  it('names no next hook if the hook is no longer due', () => {
    expect(skipEffects(failureOf(due('start')), []).next).toBeNull();
  });
});

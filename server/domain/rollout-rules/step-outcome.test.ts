import { describe, expect, test } from 'vitest';
import { judgeStep } from './judge-step.ts';
import type { OpenStep, StepFacts, StepRules } from './step-facts.ts';
import { failedStep } from './step-outcome.ts';
import { facts, later, start, step, stepRules } from './testing/facts.ts';

const retry = { times: 3, afterSeconds: 60, causes: ['exit'] };

describe('RO-20 and RO-32 what follows a failure', () => {
  const after = (of: Partial<OpenStep>, rules: Partial<StepRules>, { cause = 'exit', isFinal = false } = {}) =>
    failedStep(step(of), cause, stepRules({ retry, ...rules }), later(100), isFinal);

  test.each<[string, Partial<OpenStep>, Partial<StepRules>, string, string | null]>([
    ['another attempt', {}, {}, 'retrying', null],
    ['another attempt before the earlier goal', {}, { onStepFailure: 'revert' }, 'retrying', null],
    ['the earlier goal after all attempts', { attempt: 4 }, { onStepFailure: 'revert' }, 'reverting', 'restore'],
    ['a failure after all attempts', { attempt: 4 }, {}, 'failed', null],
    ['no attempt in a paused rollout', {}, { stage: 'paused' }, 'failed', null],
    ['the earlier goal in a paused rollout', {}, { stage: 'paused', onStepFailure: 'revert' }, 'reverting', 'restore'],
    ['neither in a rollout that ends', {}, { stage: 'aborting', onStepFailure: 'revert' }, 'failed', null],
    ['nothing if the earlier goal fails too', { state: 'reverting' }, { onStepFailure: 'revert' }, 'stuck', null],
  ])('%s', (_, of, rules, state, act) => {
    expect(after(of, rules)).toMatchObject({ state, act });
  });

  test('no attempt for a cause that is not named, or for the last attempt', () => {
    expect(after({}, {}, { cause: 'silent' })).toMatchObject({ state: 'failed', cause: 'silent' });
    expect(after({}, {}, { isFinal: true }).state).toBe('failed');
    expect(after({}, { onStepFailure: 'revert' }, { isFinal: true }).act).toBe('restore');
  });

  test('attempts come after 1, 2 and 4 minutes', () => {
    const minutes = [1, 2, 3].map((attempt) => after({ attempt }, {}).dueAt?.getTime() ?? 0);
    expect(minutes.map((dueAt) => (dueAt - later(100).getTime()) / 60_000)).toEqual([1, 2, 4]);
  });

  test('the next attempt starts without breaks and times of the last one', () => {
    const last = { breaks: 3, concludedAt: later(50), healthyAt: later(60) };
    const fresh = { breaks: 0, concludedAt: null, healthyAt: null };
    expect(after(last, {})).toMatchObject({ state: 'retrying', ...fresh });
    expect(after({ ...last, attempt: 4 }, { onStepFailure: 'revert' })).toMatchObject({ state: 'reverting', ...fresh });
    expect(after({ ...last, attempt: 4 }, {})).toMatchObject({ state: 'failed', breaks: 3, concludedAt: later(50) });
  });

  test('the earlier goal must be fetched within 300 s', () => {
    expect(after({}, { retry: { ...retry, times: 0 }, onStepFailure: 'revert' }).dueAt).toEqual(later(400));
  });
});

describe('RO-18 a goal state that was not fetched', () => {
  const unfetched = (changes: Partial<StepFacts> = {}) =>
    facts(null, { deliveredIncarnation: 4, deliveredAt: null, ...changes });
  const judge = (of: Partial<OpenStep>, given: StepFacts, seconds: number, rules: Partial<StepRules> = {}) =>
    judgeStep(step(of), given, stepRules({ retry, ...rules }), later(seconds));
  const held = unfetched({ hold: { since: start } });

  test('of a first attempt on hold is taken back immediately, and of a later one after 300 s as a failure', () => {
    expect(judge({}, held, 1)).toMatchObject({ state: 'parked', act: 'recall', dueAt: null });
    expect(judge({ attempt: 2, cause: 'exit' }, held, 299)).toMatchObject({ state: 'inFlight', dueAt: later(300) });
    expect(judge({ attempt: 2, cause: 'exit' }, held, 300)).toMatchObject({ state: 'failed', cause: 'exit' });
  });

  test('of a last attempt is followed by the earlier goal, if the rollout puts back what fails', () => {
    const rules = { onStepFailure: 'revert' } as const;
    expect(judge({ attempt: 2, cause: 'exit' }, unfetched(), 300, rules)).toMatchObject({
      state: 'reverting',
      act: 'restore',
      cause: 'exit',
    });
  });

  test('that puts a VM back leaves it stuck, and is not taken back', () => {
    const reverting = { state: 'reverting', cause: 'exit' } as const;
    expect(judge(reverting, held, 299)).toMatchObject({ state: 'reverting', dueAt: later(300), act: null });
    expect(judge(reverting, held, 300)).toMatchObject({ state: 'stuck', cause: 'exit', act: null });
  });

  test.each(['wait', 'skip'] as const)('is taken back if silent VMs %s', (silent) => {
    expect(judge({}, unfetched(), 300, { silent })).toMatchObject({ cause: 'not-fetching', act: 'recall' });
  });

  test('of an older incarnation does not count as delivered, and of a newer one does', () => {
    expect(judge({ incarnation: 6 }, facts(null, { deliveredIncarnation: 5 }), 20).deliveredAt).toBeNull();
    expect(judge({ incarnation: 6 }, facts(null, { deliveredIncarnation: 8 }), 20).deliveredAt).toEqual(later(10));
  });
});

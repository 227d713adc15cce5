import { describe, expect, test } from 'vitest';
import { executionStates } from '#protocol/executions/index.ts';
import { judgeRun, type RunExecution, type RunFacts } from './judge-run.ts';
import type { OpenStep } from './step-facts.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1) + seconds * 1_000);

const step = (given: Partial<OpenStep> = {}): OpenStep => ({
  ...{ state: 'inFlight', cause: null, kind: 'run', attempt: 1, touched: [], incarnation: null },
  ...{ publishedAt: at(0), deliveredAt: null, concludedAt: null, healthyAt: null, breaks: 0, dueAt: at(300) },
  ...given,
});
const execution = (given: Partial<RunExecution> = {}): RunExecution => ({
  ...{ state: 'queued', errorCode: null, reason: null, cancelled: null },
  ...{ concludedAt: null, deliveredAt: null, dueAt: at(3_600) },
  ...given,
});
const facts = (ran: Partial<RunExecution> | null = {}, given: Partial<RunFacts> = {}): RunFacts => ({
  ...{ exists: true, decommissioning: false, agent: 'ready', isHeld: false, isBusy: false, pausedSeconds: 0 },
  execution: ran && execution(ran),
  ...given,
});
const rules = {
  ...{ soakSeconds: 0, settleSeconds: 600, stage: 'running' as const },
  retry: { times: 1, afterSeconds: 60, causes: ['exit', 'silent', 'timeout'] },
};
const none = { ...rules, retry: { ...rules.retry, times: 0 } };

test('RO-19 every open outcome has a time at which it is judged next, and every state of an execution an outcome', () => {
  for (const state of executionStates) {
    for (const seconds of [0, 299, 300, 5_000]) {
      for (const given of [{}, { isHeld: true }, { isBusy: true }, { agent: 'unresponsive' as const }]) {
        const outcome = judgeRun(step(), facts({ state }, given), { ...rules, soakSeconds: 30 }, at(seconds));
        const isOpen = ['inFlight', 'soaking', 'retrying'].includes(outcome.state);
        expect(isOpen ? outcome.dueAt && outcome.dueAt > at(seconds) : outcome.dueAt === null).toBe(true);
      }
    }
  }
});

describe('RO-18 a run fails', () => {
  const cancelled = { by: 'Ada', at: at(5) };
  test.each<[string, Partial<RunExecution>, string]>([
    ['with the code of its result', { state: 'failed', errorCode: 107 }, 'code:107'],
    ['because the machine ended it at its timeout', { state: 'failed', errorCode: 10 }, 'timeout'],
    ['because the portal ended it at its timeout', { state: 'timed-out' }, 'timeout'],
    ['with a result without a code', { state: 'failed' }, 'plan-fault'],
    ['because its machine lost it', { state: 'lost' }, 'lost'],
    ['because a person canceled it', { state: 'cancelled', cancelled }, 'cancelled'],
    ['because it could not be delivered', { state: 'cancelled', reason: 'execution.needs-secrets' }, 'not-run'],
  ])('%s', (_, ran, cause) => {
    expect(judgeRun(step(), facts(ran), none, at(10))).toMatchObject({ state: 'failed', cause, dueAt: null });
  });

  test('if its execution was deleted', () => {
    expect(judgeRun(step(), facts(null), none, at(10))).toMatchObject({ state: 'failed', cause: 'lost' });
  });

  test('and says who canceled it', () => {
    const { overtakenBy } = judgeRun(step(), facts({ state: 'cancelled', cancelled }), none, at(10));
    expect(overtakenBy).toEqual({ by: 'Ada', action: 'execution.cancel', at: at(5).toISOString() });
  });
});

test.each<[Partial<RunExecution>, string]>([
  [{ state: 'failed', errorCode: 107 }, 'retrying'],
  [{ state: 'lost' }, 'retrying'],
  [{ state: 'cancelled', cancelled: { by: 'Ada', at: at(5) } }, 'failed'],
  [{ state: 'failed' }, 'failed'],
])('RO-20 after %j, the step is %s', (ran, state) => {
  expect(judgeRun(step(), facts(ran), rules, at(10)).state).toBe(state);
});

describe('RO-19 an execution that no machine fetched', () => {
  const judged = (seconds: number, given: Partial<RunFacts> = {}, of: Partial<OpenStep> = {}) =>
    judgeRun(step(of), facts({}, given), rules, at(seconds));

  test('is taken back after 300 seconds, not counting pauses', () => {
    expect(judged(299)).toMatchObject({ state: 'inFlight', dueAt: at(300), act: null });
    expect(judged(300)).toMatchObject({ state: 'parked', cause: 'not-fetching', act: 'recall' });
    expect(judged(300, { pausedSeconds: 40 })).toMatchObject({ state: 'inFlight', dueAt: at(340) });
    expect(judged(300, { isBusy: true })).toMatchObject({ state: 'inFlight', dueAt: at(360) });
  });

  test('is taken back at a hold, but a further attempt waits for the release', () => {
    expect(judged(1, { isHeld: true })).toMatchObject({ state: 'parked', cause: 'on-hold', act: 'recall' });
    expect(judged(1, { isHeld: true }, { attempt: 2 })).toMatchObject({ state: 'inFlight', dueAt: at(61) });
  });

  test('fails with the cause of the attempt before, because the VM was reached', () => {
    const again = { attempt: 2, cause: 'code:1' };
    expect(judged(300, {}, again)).toMatchObject({ state: 'failed', cause: 'code:1', act: 'recall' });
  });

  test('begins again if its machine was replaced, and waits if it expired', () => {
    const ended = (ran: Partial<RunExecution>) => judgeRun(step(), facts(ran), rules, at(10));
    const replaced = { state: 'cancelled' as const, reason: 'execution.machine-replaced' };
    expect(ended(replaced)).toMatchObject({ state: 'recalled', act: 'recall' });
    expect(ended({ state: 'expired' })).toMatchObject({ state: 'parked', cause: 'not-fetching' });
  });
});

describe('RO-17 a soak after code 0', () => {
  const soak = (seconds: number, given: Partial<RunFacts> = {}, more = {}) => {
    const ran = { state: 'succeeded' as const, concludedAt: at(100) };
    return judgeRun(step(), facts(ran, given), { ...rules, soakSeconds: 60, ...more }, at(seconds));
  };

  test('ends with the agent in reach', () => {
    expect(soak(110)).toMatchObject({ state: 'soaking', dueAt: at(160), healthyAt: at(100) });
    expect(soak(160)).toMatchObject({ state: 'succeeded', healthyAt: at(100) });
    expect(soak(110, {}, { soakSeconds: 0 })).toMatchObject({ state: 'succeeded' });
    expect(soak(110, {}, { stage: 'aborting' })).toMatchObject({ state: 'succeeded' });
  });

  test('fails if the agent goes silent', () => {
    const retry = none.retry;
    expect(soak(110, { agent: 'unresponsive' }, { retry })).toMatchObject({ state: 'failed', cause: 'silent' });
    expect(soak(110, { agent: 'unresponsive', isHeld: true }, { retry })).toMatchObject({ state: 'soaking' });
    expect(soak(761, { agent: 'unknown' }, { retry })).toMatchObject({ state: 'failed', cause: 'silent' });
  });
});

test('a VM that is deleted or decommissioned is gone, and a paused rollout begins no further attempt', () => {
  expect(judgeRun(step(), facts({}, { exists: false }), rules, at(1)).state).toBe('gone');
  expect(judgeRun(step(), facts({}, { decommissioning: true }), rules, at(1)).state).toBe('gone');
  const waiting = step({ state: 'retrying', cause: 'code:1', dueAt: at(60) });
  expect(judgeRun(waiting, facts({ state: 'failed' }), rules, at(60))).toMatchObject({ act: 'repeat' });
  expect(judgeRun(waiting, facts(), { ...rules, stage: 'paused' }, at(60))).toMatchObject({ state: 'failed' });
});

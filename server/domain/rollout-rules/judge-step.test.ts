import { describe, expect, test } from 'vitest';
import { judgeStep, type OpenStep, type StepFacts, type StepRules } from './judge-step.ts';
import type { StepOutcome } from './step-facts.ts';
import { facts, health, later, start, step, stepRules } from './testing/facts.ts';

const judge = (
  of: Partial<OpenStep>,
  facts: StepFacts,
  seconds: number,
  rules: Partial<StepRules> = {},
): Partial<StepOutcome> => judgeStep(step(of), facts, stepRules(rules), later(seconds));

const other = { since: start, sequenceNumber: 1 };

describe('RO-17 success', () => {
  test('health of an earlier sequence number counts for nothing, however healthy', () => {
    expect(judge({}, facts(health('healthy', other)), 400)).toMatchObject({ state: 'inFlight', healthyAt: null });
  });

  test('a healthy VM soaks from when it was first seen so, and then succeeded', () => {
    expect(judge({}, facts(health('healthy')), 30)).toMatchObject({
      state: 'soaking',
      healthyAt: later(20),
      dueAt: later(320),
    });
    expect(judge({ state: 'soaking', healthyAt: later(20) }, facts(health('healthy')), 319).state).toBe('soaking');
    expect(judge({ state: 'soaking', healthyAt: later(20) }, facts(health('healthy')), 320)).toMatchObject({
      state: 'succeeded',
      dueAt: null,
    });
  });

  test('the soak never counts from before the step', () => {
    expect(judge({}, facts(health('healthy', { since: later(-5_000) })), 30).healthyAt).toEqual(later(30));
  });

  test('the agent must be within its promise at the end of the soak', () => {
    const away = facts(health('healthy'), { agentPromiseKept: false, agent: 'unknown' });
    expect(judge({ state: 'soaking', healthyAt: later(20) }, away, 320).state).toBe('soaking');
  });

  test('a disabled extension succeeds if disabling is the goal, and only then', () => {
    const declared = { sequenceNumber: 2, state: 'disabled' as const, version: '1.1.0.0' };
    const disabled = facts(null, { extensions: [{ name: 'probe', declared, health: health('disabled') }] });
    expect(judge({}, disabled, 400, { soakSeconds: 0 }).state).toBe('succeeded');
    expect(judge({}, facts(health('disabled')), 400, { soakSeconds: 0 }).state).toBe('inFlight');
  });

  test('a removal succeeds when the extension is gone', () => {
    const gone = facts(null, { extensions: [{ name: 'probe', declared: null, health: null }] });
    expect(judge({ kind: 'remove' }, gone, 400, { soakSeconds: 0 }).state).toBe('succeeded');
    const uninstalled = { sequenceNumber: 2, state: 'uninstalled' as const, version: '1.1.0.0' };
    const removing = facts(null, {
      extensions: [{ name: 'probe', declared: uninstalled, health: health('progressing') }],
    });
    expect(judge({ kind: 'remove' }, removing, 400, { soakSeconds: 0 }).state).toBe('inFlight');
  });

  test('a change without a new sequence number succeeds when it is delivered', () => {
    expect(judge({ kind: 'policy' }, facts(null), 20).state).toBe('succeeded');
    expect(judge({ kind: 'policy' }, facts(null, { deliveredIncarnation: 4 }), 20).state).toBe('inFlight');
  });

  test('a VM whose health will be evaluated again is not judged before', () => {
    expect(judge({}, facts(health('failed'), { isMarked: true }), 100)).toMatchObject({
      state: 'inFlight',
      dueAt: later(102),
    });
  });
});

describe('RO-18 failure', () => {
  test('the health at the step’s sequence number gives the cause', () => {
    expect(judge({}, facts(health('failed', { cause: 'exit' })), 100)).toMatchObject({
      state: 'failed',
      cause: 'exit',
      dueAt: null,
    });
    expect(judge({}, facts(health('failed', { ...other, cause: 'exit' })), 100).state).toBe('inFlight');
  });

  test('an agent that turns unresponsive after the delivery', () => {
    const silent = facts(health('progressing'), { agent: 'unresponsive' });
    expect(judge({}, silent, 700)).toMatchObject({ state: 'failed', cause: 'silent' });
    expect(judge({ state: 'soaking', healthyAt: later(20) }, silent, 700)).toMatchObject({ cause: 'silent' });
  });

  test('a VM that is not healthy 600 s after the command concluded', () => {
    const degraded = facts(health('degraded'));
    const concluded = judge({}, degraded, 100);
    expect(concluded).toMatchObject({ state: 'inFlight', concludedAt: later(100), dueAt: later(700) });
    expect(judge({ concludedAt: later(100) }, degraded, 699).state).toBe('inFlight');
    expect(judge({ concludedAt: later(100) }, degraded, 700)).toMatchObject({ state: 'failed', cause: 'not-healthy' });
  });

  test('a VM that does not stay healthy three times', () => {
    const soaking = { state: 'soaking', healthyAt: later(20) } as const;
    const degraded = facts(health('degraded', { since: later(60) }));
    expect(judge({ ...soaking, breaks: 1 }, degraded, 60)).toMatchObject({
      state: 'inFlight',
      breaks: 2,
      healthyAt: null,
    });
    expect(judge({ ...soaking, breaks: 2 }, degraded, 60)).toMatchObject({ state: 'failed', cause: 'unsteady' });
    // Healthy again before anyone looked: that is a break too.
    const again = facts(health('healthy', { since: later(60) }));
    expect(judge(soaking, again, 100)).toMatchObject({ state: 'soaking', breaks: 1, healthyAt: later(60) });
  });

  test('a goal state that is not fetched within 300 s is taken back, and has not failed', () => {
    const waiting = facts(null, { deliveredIncarnation: 4, deliveredAt: null });
    expect(judge({}, waiting, 299)).toMatchObject({ state: 'inFlight', dueAt: later(300), act: null });
    expect(judge({}, waiting, 300)).toMatchObject({ state: 'parked', cause: 'not-fetching', act: 'recall' });
    expect(judge({}, waiting, 300, { silent: 'declare' })).toMatchObject({ state: 'parked', act: null });
  });

  test('RO-16 a VM that keeps its goal state while it is silent is judged when it fetched it', () => {
    const parked = { state: 'parked', cause: 'not-fetching' } as const;
    expect(judge(parked, facts(null, { deliveredIncarnation: 4 }), 9_000).state).toBe('parked');
    expect(
      judge(parked, facts(health('healthy', { since: later(9_000) }), { deliveredAt: later(8_900) }), 9_010),
    ).toMatchObject({ state: 'soaking', cause: null });
  });
});

describe('RO-19 never stuck', () => {
  test('every delivered step is decided by its end, whatever its health says', () => {
    const end = 10 + 600 + 600 + 3 * 300;
    for (const word of ['progressing', 'unknown', 'degraded', 'unresponsive'] as const) {
      const open = judge({ deliveredAt: later(10) }, facts(health(word)), end - 1);
      if (open.state === 'inFlight') expect(open.dueAt?.getTime()).toBeLessThanOrEqual(later(end).getTime());
      expect(judge({ deliveredAt: later(10) }, facts(health(word)), end).state).toBe('failed');
    }
    expect(judge({ deliveredAt: later(10) }, facts(health('healthy', other)), end).state).toBe('failed');
  });

  test('the clock of a delivered step stops on hold, and continues after the release', () => {
    const held = facts(health('degraded'), { hold: { since: later(50) } });
    expect(judge({ concludedAt: later(100) }, held, 5_000)).toMatchObject({ state: 'inFlight', dueAt: later(5_060) });
    const released = facts(health('degraded'), { heldSeconds: 5_000 });
    expect(judge({ concludedAt: later(100) }, released, 5_100).dueAt).toEqual(later(5_700));
    expect(judge({ concludedAt: later(100) }, released, 5_700).state).toBe('failed');
  });

  test('the same while another kind of work has the lane', () => {
    const busy = facts(health('progressing'), { laneSince: later(50) });
    expect(judge({}, busy, 50_000)).toMatchObject({ state: 'inFlight' });
  });

  test('a VM on hold that did not fetch the goal state is parked', () => {
    const held = facts(null, { deliveredIncarnation: 4, hold: { since: later(5) } });
    expect(judge({}, held, 10)).toMatchObject({ state: 'parked', cause: 'on-hold', act: 'recall' });
  });
});

describe('RO-20 retries', () => {
  const rules = { retry: { times: 2, afterSeconds: 60, causes: ['exit'] } };
  const failed = facts(health('failed', { cause: 'exit' }));

  test('come after a time that doubles, as often as allowed, for the causes named', () => {
    expect(judge({}, failed, 100, rules)).toMatchObject({ state: 'retrying', cause: 'exit', dueAt: later(160) });
    expect(judge({ attempt: 2 }, failed, 100, rules)).toMatchObject({ state: 'retrying', dueAt: later(220) });
    expect(judge({ attempt: 3 }, failed, 100, rules)).toMatchObject({ state: 'failed', cause: 'exit' });
    const status = facts(health('failed', { cause: 'status' }));
    expect(judge({}, status, 100, rules)).toMatchObject({ state: 'failed', cause: 'status' });
  });

  test('begin when they are due, and not while the rollout is paused or ends', () => {
    const waiting = { state: 'retrying', cause: 'exit', dueAt: later(160) } as const;
    expect(judge(waiting, failed, 159, rules)).toMatchObject({ state: 'retrying', act: null, dueAt: later(160) });
    expect(judge(waiting, failed, 160, rules)).toMatchObject({ state: 'inFlight', act: 'repeat' });
    expect(judge(waiting, failed, 160, { ...rules, stage: 'paused' })).toMatchObject({
      state: 'failed',
      cause: 'exit',
    });
    expect(judge(waiting, failed, 120, { ...rules, stage: 'aborting' }).state).toBe('failed');
  });

  test('an attempt that is not fetched counts by the last one that was', () => {
    const unfetched = facts(null, { deliveredIncarnation: 4 });
    expect(judge({ attempt: 2, cause: 'exit' }, unfetched, 300, rules)).toMatchObject({
      state: 'failed',
      cause: 'exit',
    });
  });
});

describe('RO-32 putting back', () => {
  const failed = facts(health('failed', { cause: 'exit' }));

  test('a failed VM gets its earlier goal immediately, and is then reverted or stuck', () => {
    expect(judge({}, failed, 100, { onStepFailure: 'revert' })).toMatchObject({
      state: 'reverting',
      act: 'restore',
      cause: 'exit',
    });
    const reverting = { state: 'reverting', cause: 'exit' } as const;
    expect(judge(reverting, facts(health('healthy')), 100)).toMatchObject({ state: 'reverted', cause: 'exit' });
    expect(judge(reverting, failed, 100)).toMatchObject({ state: 'stuck', cause: 'exit' });
    expect(judge(reverting, facts(null, { deliveredIncarnation: 4 }), 300).state).toBe('stuck');
  });

  test('an extension that was absent before is reverted when it is gone', () => {
    const gone = facts(null, { extensions: [{ name: 'probe', declared: null, health: null }] });
    expect(judge({ state: 'reverting' }, gone, 100).state).toBe('reverted');
  });
});

describe('other ends', () => {
  test('a VM that is deleted or decommissioned is gone, without being a failure', () => {
    expect(judge({}, facts(health('failed'), { exists: false }), 100).state).toBe('gone');
    expect(judge({}, facts(health('failed'), { decommissioning: true }), 100).state).toBe('gone');
  });

  test('another sequence number means that someone else changed the extension', () => {
    const declared = { sequenceNumber: 3, state: 'enabled' as const, version: '2.0.0.0' };
    const changedBy = { by: 'Ada', action: 'extension.set', at: later(50).toISOString() };
    const changed = facts(null, { extensions: [{ name: 'probe', declared, health: null }], changedBy });
    for (const state of ['inFlight', 'soaking', 'retrying', 'reverting'] as const)
      expect(judge({ state }, changed, 100)).toMatchObject({ state: 'overtaken', overtakenBy: changedBy });
  });

  test('RO-30 an abort drops soaks, and leaves VMs on hold', () => {
    expect(judge({}, facts(health('healthy')), 30, { stage: 'aborting' }).state).toBe('succeeded');
    expect(
      judge({}, facts(health('progressing'), { hold: { since: start } }), 30, { stage: 'aborting' }),
    ).toMatchObject({
      state: 'unreached',
      cause: 'on-hold',
    });
  });
});

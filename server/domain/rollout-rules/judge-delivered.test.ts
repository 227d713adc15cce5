import { describe, expect, test } from 'vitest';
import { judgeDelivered } from './judge-delivered.ts';
import type { OpenStep, StepFacts, StepOutcome, StepRules } from './step-facts.ts';
import { facts, health, later, start, step, stepRules } from './testing/facts.ts';

const judge = (
  of: Partial<OpenStep>,
  facts: StepFacts,
  seconds: number,
  rules: Partial<StepRules> = {},
): Partial<StepOutcome> => judgeDelivered(step(of), facts, stepRules(rules), later(seconds));

const progressing = (deadlineAt: Date | null, changes: Partial<StepFacts> = {}) =>
  facts(health('progressing', { deadlineAt }), changes);
const hold = { since: later(15) };

/** The end of the step: delivery after 10 s, commands for 600 s, 600 s to settle, three soaks of 300 s. */
const end = 2_110;
/** The latest end of the time to settle. */
const settled = 1_210;

describe('RO-19 a command that runs', () => {
  test.each([
    ['at its own deadline', later(400), 30, 400],
    ['at the deadline of the step if its own is not known', null, 30, 610],
    ['every ten seconds after its deadline', later(400), 450, 460],
    ['at the end of the time to settle, if that comes earlier', null, settled - 3, settled],
  ])('is judged again %s', (_, deadlineAt, now, dueAt) => {
    expect(judge({}, progressing(deadlineAt), now)).toMatchObject({ state: 'inFlight', dueAt: later(dueAt) });
  });

  test('has until its own deadline, if that is later than planned', () => {
    const long = progressing(later(5_000));
    expect(judge({}, long, end).state).toBe('inFlight');
    expect(judge({}, long, 5_599).state).toBe('inFlight');
    expect(judge({}, long, 5_600)).toMatchObject({ state: 'failed', cause: 'not-healthy' });
  });

  test('gets back the time for which a hold or other work paused the VM', () => {
    const paused = progressing(null, { heldSeconds: 100, laneBusySeconds: 50 });
    expect(judge({}, paused, settled + 149).state).toBe('inFlight');
    expect(judge({}, paused, settled + 150).state).toBe('failed');
  });

  test('is timed from the first delivery, not from that of a later goal state', () => {
    const redelivered = progressing(null, { deliveredIncarnation: 7, deliveredAt: later(1_500) });
    expect(judge({ deliveredAt: later(10) }, redelivered, 1_600).deliveredAt).toEqual(later(10));
    expect(judge({ deliveredAt: later(10) }, redelivered, end).state).toBe('failed');
    expect(judge({}, redelivered, end).state).toBe('inFlight');
  });
});

describe('RO-17 the end of the soak', () => {
  const soaking = { state: 'soaking', healthyAt: later(20) } as const;

  test.each([
    ['is on hold', { hold }],
    ['does other work', { laneSince: later(15) }],
  ])('does not come while the VM %s', (_, changes) => {
    const paused = facts(health('healthy'), changes);
    expect(judge(soaking, paused, 50_000)).toMatchObject({ state: 'soaking', dueAt: later(50_060) });
    expect(judge(soaking, facts(health('healthy')), 50_000).state).toBe('succeeded');
  });

  test('waits for a call that is late, until the end of the step', () => {
    const late = facts(health('healthy'), { agentPromiseKept: false, agent: 'unknown' });
    expect(judge(soaking, late, 320)).toMatchObject({ state: 'soaking', dueAt: later(330) });
    expect(judge(soaking, late, end - 4)).toMatchObject({ state: 'soaking', dueAt: later(end) });
    expect(judge(soaking, late, end)).toMatchObject({ state: 'failed', cause: 'silent' });
    expect(judge(soaking, { ...late, agent: 'ready' }, end)).toMatchObject({ dueAt: later(end + 10) });
  });

  test('comes immediately without a soak', () => {
    expect(judge({}, facts(health('healthy')), 30, { soakSeconds: 0 })).toMatchObject({
      state: 'succeeded',
      healthyAt: later(20),
      dueAt: null,
    });
  });
});

describe('RO-19 a VM that is healthy only late', () => {
  const healthySince = (seconds: number) => facts(health('healthy', { since: later(seconds) }));

  test('still soaks, because it had to be healthy one soak before the end', () => {
    const soaking = judge({}, healthySince(settled - 1), settled - 1);
    expect(soaking).toMatchObject({ state: 'soaking', dueAt: later(settled + 299) });
    const { healthyAt = null, concludedAt = null } = soaking;
    const of = { state: 'soaking', healthyAt, concludedAt } as const;
    expect(judge(of, healthySince(settled - 1), settled + 299).state).toBe('succeeded');
  });

  test('is decided at the end of the step, although its soak is not over', () => {
    const late = healthySince(end - 100);
    const soaking = judge({}, late, end - 100);
    expect(soaking).toMatchObject({ state: 'soaking', dueAt: later(end) });
    const { healthyAt = null, concludedAt = null } = soaking;
    const of = { state: 'soaking', healthyAt, concludedAt } as const;
    expect(judge(of, late, end)).toMatchObject({ state: 'failed', cause: 'not-healthy' });
    expect(judge(of, { ...late, hold }, end)).toMatchObject({ state: 'soaking', dueAt: later(end + 60) });
  });

  test('has succeeded at the end of the step if the stored health is older than a soak', () => {
    expect(judge({}, healthySince(5), end + 400).state).toBe('succeeded');
  });

  test('has its own soak if its command had a later deadline', () => {
    const late = healthySince(4_900);
    const soaking = judge({ dueAt: later(5_000) }, late, 4_900);
    expect(soaking).toMatchObject({ state: 'soaking', dueAt: later(5_200) });
    const { healthyAt = null, concludedAt = null, dueAt = null } = soaking;
    const of = { state: 'soaking', healthyAt, concludedAt, dueAt } as const;
    expect(judge(of, late, 5_199).state).toBe('soaking');
    expect(judge(of, late, 5_200).state).toBe('succeeded');
  });

  test('fails at the end of the time to settle, so that a later soak does not begin', () => {
    expect(judge({}, progressing(null), settled)).toMatchObject({ state: 'failed', cause: 'not-healthy' });
  });
});

describe('RO-18 a VM that does not stay healthy', () => {
  // Its command concluded after 100 s, and it was healthy from 200 s on.
  const soaking = { state: 'soaking', concludedAt: later(100), healthyAt: later(200) } as const;
  const degraded = facts(health('degraded', { since: later(300) }));
  const again = facts(health('healthy', { since: later(260) }));

  test('does not lose the time to settle in which it was healthy', () => {
    expect(judge(soaking, degraded, 300)).toMatchObject({
      state: 'inFlight',
      breaks: 1,
      concludedAt: later(200),
      dueAt: later(800),
    });
    expect(judge(soaking, again, 310)).toMatchObject({ concludedAt: later(160) });
  });

  test('soaks again from the start, even if the portal saw no break', () => {
    expect(judge(soaking, again, 510)).toMatchObject({ state: 'soaking', breaks: 1, dueAt: later(560) });
  });

  test('fails with the third break, even if it is healthy again', () => {
    expect(judge({ ...soaking, breaks: 2 }, again, 310)).toMatchObject({ state: 'failed', cause: 'unsteady' });
  });

  test('does not settle while it is on hold', () => {
    const held = { ...degraded, hold };
    const inFlight = { concludedAt: later(100) };
    expect(judge(inFlight, held, 900)).toMatchObject({ state: 'inFlight', dueAt: later(960) });
    expect(judge(inFlight, degraded, 900).state).toBe('failed');
  });
});

describe('RO-30 while the rollout ends', () => {
  const aborting = { stage: 'aborting', onStepFailure: 'revert' } as const;

  test('a VM that is not healthy yet is judged to its end, and is not reverted', () => {
    const degraded = facts(health('degraded'));
    expect(judge({ concludedAt: later(100) }, degraded, 699, aborting).state).toBe('inFlight');
    expect(judge({ concludedAt: later(100) }, degraded, 700, aborting)).toMatchObject({ state: 'failed', act: null });
  });

  test('a VM on hold that was being reverted is stuck', () => {
    const held = facts(health('progressing'), { hold });
    expect(judge({ state: 'reverting', cause: 'exit' }, held, 30, aborting)).toMatchObject({
      state: 'stuck',
      cause: 'exit',
      dueAt: null,
    });
  });

  test('health that will be evaluated again is not judged', () => {
    const marked = facts(health('healthy'), { isMarked: true });
    expect(judge({}, marked, 30, aborting)).toMatchObject({ state: 'inFlight', dueAt: later(32) });
  });
});

describe('RO-32 a VM that is being reverted', () => {
  const reverting = { state: 'reverting', cause: 'exit' } as const;

  test('has time to settle, and is then stuck with the cause of its failure', () => {
    const degraded = facts(health('degraded'));
    expect(judge(reverting, degraded, 100)).toMatchObject({ state: 'reverting', dueAt: later(700) });
    expect(judge({ ...reverting, concludedAt: later(100) }, degraded, 700)).toMatchObject({
      state: 'stuck',
      cause: 'exit',
    });
  });

  test('needs no soak', () => {
    expect(judge(reverting, facts(health('healthy')), 30)).toMatchObject({ state: 'reverted', dueAt: null });
  });
});

test.each([
  ['on hold', { hold }],
  ['with health that will be evaluated again', { isMarked: true }],
  ['with an unresponsive agent', { agent: 'unresponsive' as const }],
])('RO-17 a policy succeeds on delivery, also on a VM %s', (_, changes) => {
  const failed = facts(health('failed'), changes);
  expect(judge({ kind: 'policy' }, failed, 20)).toMatchObject({ state: 'succeeded', healthyAt: later(20) });
  expect(judge({ kind: 'policy', state: 'reverting' }, failed, 20).state).toBe('reverted');
  expect(judge({ publishedAt: start }, failed, 20).state).not.toBe('succeeded');
});

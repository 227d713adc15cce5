import { describe, expect, test } from 'vitest';
import type { RingAdvance, RingFacts } from './advance-facts.ts';
import { moveRings, stopRing } from './advance-rings.ts';
import { judgeRings } from './judge-rings.ts';
import { counts, gates, later, ring, start } from './testing/facts.ts';

const now = later(100);
const move = (rings: RingFacts[], at = now): RingAdvance[] => moveRings(judgeRings(rings), at);
const states = (rings: RingFacts[], at = now) => move(rings, at).map(({ state }) => state);
const waiting = (index: number, changes: Partial<RingFacts> = {}) =>
  ring({ ring: index, state: 'waiting', openedAt: null, ...changes });

const done = counts({ succeeded: 10 });
const ungated = { errors: null, success: null };

describe('RO-22 when a ring passes', () => {
  test.each<[string, Partial<RingFacts>, string]>([
    [
      '95 % succeeded, and the others are not decided',
      { size: 20, counts: counts({ succeeded: 19, inFlight: 1 }) },
      'passed',
    ],
    ['one short of 95 %', { size: 20, counts: counts({ succeeded: 18, inFlight: 2 }) }, 'open'],
    [
      'no gate, and a member in flight',
      { gates: gates(ungated), counts: counts({ succeeded: 9, inFlight: 1 }) },
      'open',
    ],
    ['no gate, and a member that is queued', { gates: gates(ungated), counts: counts({ succeeded: 9 }) }, 'open'],
    [
      'no gate, and a member that was recalled',
      { gates: gates(ungated), counts: counts({ succeeded: 9, recalled: 1 }) },
      'open',
    ],
    [
      'no gate, and a member that waits for its retry',
      { gates: gates(ungated), counts: counts({ succeeded: 9, retrying: 1 }) },
      'open',
    ],
    ['no gate, and failures', { gates: gates(ungated), counts: counts({ succeeded: 2, failed: 8 }) }, 'passed'],
    ['no gate, and a parked member', { gates: gates(ungated), counts: counts({ succeeded: 9, parked: 1 }) }, 'passed'],
    ['no gate, and only parked members', { gates: gates(ungated), counts: counts({ parked: 10 }) }, 'open'],
    ['no gate, and only skipped members', { gates: gates(ungated), counts: counts({ skipped: 10 }) }, 'open'],
  ])('%s', (_, changes, state) => {
    expect(states([ring(changes), waiting(1)])[0]).toBe(state);
  });

  test('RO-29 an overruled success gate does not pass a ring before its members are decided', () => {
    const overruled = { decided: 0, failed: 0, success: true, changedFirst: 0, controlFirst: 0, pairs: 0 };
    const half = counts({ succeeded: 5, failed: 1, inFlight: 4 });
    expect(states([ring({ overruled, counts: half }), waiting(1)])).toEqual(['open', 'waiting']);
    expect(states([ring({ overruled, counts: counts({ succeeded: 6, failed: 4 }) }), waiting(1)])).toEqual([
      'passed',
      'open',
    ]);
  });

  test('the last ring with members passes without a bake, and without a member that could be reached', () => {
    const baking = gates({ bakeSeconds: 1_800 });
    expect(states([ring({ gates: baking, counts: done })])).toEqual(['passed']);
    expect(states([ring({ gates: baking, counts: done }), waiting(1, { size: 0 })])).toEqual(['passed', 'passed']);
    expect(states([ring({ counts: counts({ skipped: 10 }) })])).toEqual(['passed']);
    expect(states([ring({ counts: counts({ skipped: 9, parked: 1 }) })])).toEqual(['open']);
  });
});

describe('RO-9 the order of rings', () => {
  test('rings open one by one: one that opens now does not let the next one open', () => {
    expect(states([ring({ counts: done }), waiting(1), waiting(2)])).toEqual(['passed', 'open', 'waiting']);
  });

  test('a ring that an operator opened early lets the next one open only when it has passed', () => {
    const first = ring({ counts: counts({ inFlight: 1 }) });
    const advanced = { advanced: true, state: 'open', openedAt: start } as const;
    expect(states([first, waiting(1, advanced), waiting(2)])).toEqual(['open', 'open', 'waiting']);
    expect(states([first, waiting(1, { ...advanced, counts: done }), waiting(2)])).toEqual(['open', 'passed', 'open']);
  });

  test('a ring that passed stays passed, although late members of it are open again', () => {
    const late = ring({ state: 'passed', passedAt: start, counts: counts({ succeeded: 8, inFlight: 2 }) });
    expect(move([late, waiting(1)]).map(({ state, passedAt }) => [state, passedAt])).toEqual([
      ['passed', start],
      ['open', null],
    ]);
  });

  test('a ring keeps the time at which it first opened', () => {
    expect(move([waiting(0)])[0]).toMatchObject({ state: 'open', openedAt: now });
    expect(move([waiting(0, { openedAt: start })])[0]).toMatchObject({ state: 'open', openedAt: start });
    expect(move([waiting(0, { size: 0 })])[0]).toMatchObject({ openedAt: now, metAt: now, passedAt: now });
  });
});

describe('RO-27 bakes', () => {
  const baked = { gates: gates({ bakeSeconds: 60 }), counts: done };

  test('start when the gates are met, and end after their seconds', () => {
    expect(move([ring(baked), waiting(1)])[0]).toMatchObject({ state: 'baking', metAt: now, passedAt: null });
    const baking = ring({ ...baked, state: 'baking', metAt: start });
    expect(states([baking, waiting(1)], later(59))).toEqual(['baking', 'waiting']);
    expect(move([baking, waiting(1)], later(61))[0]).toMatchObject({ metAt: start, passedAt: later(61) });
  });

  test('start again after a halt that was overruled, however long ago the gates were met', () => {
    const halted = ring({ ...baked, state: 'halted', metAt: later(-9_000) });
    expect(move([halted, waiting(1)])[0]).toMatchObject({ state: 'baking', metAt: now });
    expect(states([{ ...halted, counts: counts({ succeeded: 9, inFlight: 1 }) }, waiting(1)])[0]).toBe('open');
  });

  test('continue while the rollout is paused, and start again if a gate turns to wait', () => {
    const stop = (changes: Partial<RingFacts>) => {
      const judged = judgeRings([ring({ ...baked, state: 'baking', metAt: start, ...changes }), waiting(1)]);
      return judged.map(stopRing)[0];
    };
    expect(stop({})).toMatchObject({ state: 'baking', metAt: start });
    expect(stop({ counts: counts({ succeeded: 9, inFlight: 1 }) })).toMatchObject({ state: 'open', metAt: null });
    expect(stop({ counts: counts({ succeeded: 9, failed: 1 }) })).toMatchObject({ state: 'halted' });
  });
});

test('RO-23 gates of a ring that has not opened are not evaluated', () => {
  const failing = { counts: counts({ failed: 10 }) };
  const verdicts = judgeRings([ring({ ...failing, state: 'passed' }), waiting(1, failing)]).map((one) =>
    one.verdicts.map(({ verdict }) => verdict),
  );
  expect(verdicts).toEqual([['pass', 'halt'], []]);
});

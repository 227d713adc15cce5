import { describe, expect, test } from 'vitest';
import type { RingFacts } from './advance-facts.ts';
import { moveRings } from './advance-rings.ts';
import { judgeRings } from './judge-rings.ts';
import { counts, gates, later, ring, start } from './testing/facts.ts';
import { isExcused, keepSince, nextOf, waitingFor } from './waiting.ts';

/** What a rollout with these rings waits for, without what keeps its members from beginning. */
function waits(rings: RingFacts[], nextStepAt: Date | null = null) {
  const judged = judgeRings(rings);
  return waitingFor({ nextStepAt, isBehind: false, now: start }, judged, moveRings(judged, start));
}
const done = counts({ succeeded: 10 });
const next = (changes: Partial<RingFacts> = {}) => ring({ ring: 1, state: 'waiting', openedAt: null, ...changes });

describe('RO-19 reasons', () => {
  test.each<[string, RingFacts[], string[]]>([
    ['a bake', [ring({ counts: done, gates: gates({ bakeSeconds: 60 }) }), next()], ['ring_bake']],
    ['a person', [ring({ counts: done }), next({ approval: true })], ['ring_approval']],
    ['nothing, once a person approved', [ring({ counts: done }), next({ approval: true, isApproved: true })], []],
    [
      'a person, for a ring that an operator advanced',
      [ring(), next({ advanced: true, approval: true })],
      ['ring_approval'],
    ],
    ['no person before it is the ring’s turn', [ring(), next({ approval: true })], []],
    ['a member that is reached', [ring({ counts: counts({ parked: 10 }) }), next()], ['nobody_reached']],
    ['availability sets', [ring({ counts: counts({ parked: 10 }), setsBusy: 10 })], ['sets_busy']],
    [
      'VMs of other rollouts',
      [ring({ counts: counts({ parked: 10 }), vmsBusy: 3, setsBusy: 7 })],
      ['sets_busy', 'vms_busy'],
    ],
    [
      'members that a passed ring left behind',
      [ring({ state: 'passed', counts: counts({ parked: 1, succeeded: 9 }), setsBusy: 1 })],
      ['sets_busy'],
    ],
    ['open steps', [ring({ counts: counts({ inFlight: 3 }) })], ['steps_open']],
  ])('a rollout waits for %s', (_, rings, codes) => {
    expect(waits(rings).map(({ code }) => code)).toEqual(codes);
  });

  test('pairs that are still watched, with how many there are', () => {
    const compare = { minEffectShare: 100, minPairs: 5, onTooFew: 'goOn' as const };
    const facts = ring({
      counts: counts({ succeeded: 10, pairsOpen: 2, pairsNeither: 3 }),
      candidates: 50,
      gates: gates({ compare }),
    });
    expect(waits([facts, next()])).toMatchObject([{ code: 'pairs_too_few', ring: 0, params: { pairs: 3, needed: 5 } }]);
  });

  test('open steps name the time at which the first is judged', () => {
    expect(waits([ring({ counts: counts({ inFlight: 3 }) })], later(30))).toEqual([
      { code: 'steps_open', params: { open: 3 }, at: later(30).toISOString() },
    ]);
  });

  test('only a person, a window, a freeze and a bake excuse a rollout without progress', () => {
    const codes = [
      'ring_approval',
      'window_closed',
      'freeze',
      'ring_bake',
      'nobody_reached',
      'sets_busy',
      'steps_open',
      'rate',
    ];
    expect(codes.filter((code) => isExcused({ code }, { kind: 'rollout' }))).toEqual(codes.slice(0, 4));
  });

  test('RO-38 an automatic rollout gives way to other rollouts as long as they take', () => {
    const busy = { code: 'vms_busy' };
    expect(isExcused(busy, { kind: 'automatic' })).toBe(true);
    expect(isExcused(busy, { kind: 'rollout' })).toBe(false);
    expect(isExcused({ code: 'nobody_reached' }, { kind: 'automatic' })).toBe(false);
  });
});

describe('what happens next', () => {
  test('is the reason whose time comes first, and otherwise the first reason', () => {
    const at = (seconds: number) => later(seconds).toISOString();
    const reasons = [{ code: 'ramp' }, { code: 'rate', at: at(9) }, { code: 'window_closed', at: at(5) }];
    expect(nextOf(reasons, [])).toEqual({ code: 'window_closed', at: at(5) });
    expect(nextOf([{ code: 'ring_approval', ring: 1 }], [])).toEqual({ code: 'ring_approval', ring: 1 });
    expect(nextOf([], [])).toBeNull();
  });

  test('after a bake, the next ring opens', () => {
    const bake = { code: 'ring_bake', ring: 0, at: start.toISOString() };
    expect(nextOf([bake], [ring(), next()])).toMatchObject({ code: 'ring_opens', ring: 1 });
  });

  test('after a bake, the next ring with members opens', () => {
    const bake = { code: 'ring_bake', ring: 0, at: start.toISOString() };
    const rings = [ring(), next({ size: 0 }), next({ ring: 2, size: 3 })];
    expect(nextOf([bake], rings)).toMatchObject({ code: 'ring_opens', ring: 2 });
  });

  test('a reason keeps its time for as long as it holds, for each ring', () => {
    const before = [{ code: 'ramp', ring: 0, since: '2026-01-01T00:00:00.000Z' }];
    expect(
      keepSince(
        [
          { code: 'ramp', ring: 0 },
          { code: 'ramp', ring: 1 },
        ],
        before,
        start,
      ),
    ).toEqual([before[0], { code: 'ramp', ring: 1, since: start.toISOString() }]);
  });
});

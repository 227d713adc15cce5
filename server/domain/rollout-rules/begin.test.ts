import { describe, expect, test } from 'vitest';
import type { RingFacts } from './advance-facts.ts';
import { keepRing } from './advance-rings.ts';
import { findBeginning, roomIn } from './begin.ts';
import { judgeRings } from './judge-rings.ts';
import { advanceInput, counts, gates, later, ring, start } from './testing/facts.ts';

/** What may begin, if the rings stay as they are. */
function beginning(rings: RingFacts[], changes: Parameters<typeof advanceInput>[2] = {}, of = {}) {
  const input = advanceInput(rings, of, changes);
  return findBeginning(input, judgeRings(rings).map(keepRing));
}

const freeze = (from: Date, to: Date, exempt: string[] = []) => ({
  from: from.toISOString(),
  to: to.toISOString(),
  reason: 'year end',
  exempt,
});
const evening = { days: ['mon' as const], from: '12:00', to: '14:00', timeZone: 'UTC' };

describe('RO-9 order', () => {
  test('only rings that opened, the first one with members first', () => {
    const rings = [ring({ counts: counts({ succeeded: 10 }) }), ring({ ring: 1 }), ring({ ring: 2, state: 'waiting' })];
    expect(beginning(rings).mayBegin).toMatchObject({ ring: 1, room: 10 });
    expect(beginning([ring({ state: 'waiting' })])).toEqual({ mayBegin: null, reasons: [] });
  });

  test('a ring that is full does not keep the next open ring from beginning', () => {
    const full = ring({ gates: gates({ inFlight: { count: 2 } }), counts: counts({ inFlight: 2 }) });
    expect(beginning([full, ring({ ring: 1 })]).mayBegin).toMatchObject({ ring: 1 });
    expect(beginning([full]).reasons).toEqual([{ code: 'in_flight_full', ring: 0, params: { inFlight: 2, limit: 2 } }]);
  });

  test('parked members whose obstacle is gone begin, even in a ring that passed', () => {
    const passed = ring({ state: 'passed', counts: counts({ succeeded: 7, parked: 3 }), ready: 2 });
    expect(beginning([passed]).mayBegin).toMatchObject({ ring: 0, room: 2 });
    expect(beginning([{ ...passed, ready: 0 }])).toEqual({ mayBegin: null, reasons: [] });
  });

  test('recalled members are queued again', () => {
    expect(beginning([ring({ counts: counts({ recalled: 4, succeeded: 6 }) })]).mayBegin).toMatchObject({ room: 4 });
  });
});

describe('RO-11 room', () => {
  test.each([
    [{ share: 1_000 }, {}, 10, 'in_flight_full'],
    [{ share: 1_000 }, { inFlight: 4 }, 6, 'in_flight_full'],
    [{ share: 1 }, {}, 1, 'in_flight_full'],
    [{ count: 3 }, { inFlight: 1, retrying: 1, reverting: 1 }, 0, 'in_flight_full'],
  ] as const)('%j with %j in flight leaves %i', (inFlight, of, room, code) => {
    expect(roomIn(ring({ size: 100, gates: gates({ inFlight }), counts: counts(of) }))).toMatchObject({ room, code });
  });

  test('a ramp is the reason while it allows less than the limit', () => {
    const ramp = gates({ ramp: true, inFlight: { count: 4 } });
    const of = (healthy: number) =>
      roomIn(ring({ size: 100, gates: ramp, counts: counts({ soaking: healthy, healthy }) }));
    expect(of(0)).toMatchObject({ room: 1, limit: 1, code: 'ramp' });
    expect(of(2)).toMatchObject({ room: 3, limit: 3, code: 'ramp' });
    expect(of(3)).toMatchObject({ room: 4, limit: 4, code: 'in_flight_full' });
    expect(of(50)).toMatchObject({ room: 4, limit: 4 });
  });

  test('all rollouts together have the portal’s limit', () => {
    expect(beginning([ring()], { portalInFlight: 1_997 }).mayBegin?.room).toBe(3);
    expect(beginning([ring()], { portalInFlight: 2_000 }).reasons).toEqual([
      { code: 'in_flight_full', params: { inFlight: 2_000, limit: 2_000 } },
    ]);
  });
});

describe('RO-35 and RO-36 time', () => {
  test('steps may begin until the window is too short for their commands, or a freeze begins', () => {
    const facts = ring({ windows: [evening], longestSeconds: 600 });
    expect(beginning([facts]).mayBegin?.until).toEqual(later(2 * 3_600 - 600));
    const freezes = [freeze(later(1_800), later(9_000))];
    expect(beginning([facts], { freezes }).mayBegin?.until).toEqual(later(1_800));
    expect(beginning([ring()]).mayBegin?.until).toBeNull();
  });

  test('each ring has its own windows', () => {
    const closed = ring({ windows: [{ ...evening, days: ['tue'] }] });
    expect(beginning([closed]).reasons).toEqual([{ code: 'window_closed', ring: 0, at: '2026-07-07T12:00:00.000Z' }]);
    expect(beginning([closed, ring({ ring: 1 })]).mayBegin).toMatchObject({ ring: 1 });
  });

  test('a freeze stops every ring, except of reverts and of exempted rollouts', () => {
    const freezes = [freeze(start, later(600), ['exempt'])];
    expect(beginning([ring()], { freezes }).reasons).toMatchObject([{ code: 'freeze', at: later(600).toISOString() }]);
    expect(beginning([ring()], { freezes }, { kind: 'revert' }).mayBegin).not.toBeNull();
    expect(beginning([ring()], { freezes }, { id: 'exempt' }).mayBegin).not.toBeNull();
  });

  test('RO-12 nothing begins before the rate allows it, and missed steps do not follow in a burst', () => {
    expect(beginning([ring()], { nextBatchAt: later(1) }).reasons).toEqual([
      { code: 'rate', at: later(1).toISOString() },
    ]);
    expect(beginning([ring()], { nextBatchAt: later(-9_000) }).mayBegin).toMatchObject({ room: 10 });
  });
});

import { describe, expect, test } from 'vitest';
import type { Freeze, RingPlan } from '#server/domain/rollout-rules/stored.ts';
import { defaultRules } from '#server/domain/rollout-rules/strategies.ts';
import type { StoredRollout } from '../rows.ts';
import { definitionOf, ringUpTo } from '../testing/given-draft.ts';
import { RingFault } from './ring-fault.ts';
import { endsOf, requireTime } from './schedule.ts';

// A Sunday.
const now = new Date('2026-03-01T12:00:00Z');
const hourMs = 3_600_000;
const sunday = (from: string, to: string) => ({ days: ['sun' as const], from, to, timeZone: 'UTC' });
const ringPlan = (size: number, longestSeconds: number): RingPlan => ({
  ...{ name: 'ring', size, kinds: {}, inFlight: 1, bytes: 0, restarts: 0, silent: 0, longestSeconds },
  sets: { touched: 0, longest: 0 },
});
const plans = [ringPlan(5, 600), ringPlan(5, 600)];
const rings = [ringUpTo(5_000), ringUpTo(10_000)];

type Row = Pick<StoredRollout, 'id' | 'kind' | 'definition' | 'startAt'>;
const row = (given: Partial<Row> = {}): StoredRollout =>
  ({ id: 'a', kind: 'rollout', definition: definitionOf({ rings }), startAt: null, ...given }) as StoredRollout;
const ends = (given: Partial<Row> = {}, freezes: Freeze[] = [], rules = defaultRules, ringPlans = plans) => {
  const { earliestEnd, likelyEnd } = endsOf({ now }, row(given), ringPlans, rules, freezes);
  return [earliestEnd, likelyEnd].map((end) => (end === null ? null : (Date.parse(end) - now.getTime()) / 1_000)) as [
    number,
    number,
  ];
};

describe('RO-35 a plan is rejected', () => {
  const fault = (definition: Parameters<typeof requireTime>[0], ringPlans = plans) => {
    try {
      requireTime(definition, ringPlans);
      return null;
    } catch (error) {
      if (!(error instanceof RingFault)) throw error;
      return [error.code, error.ring, error.params];
    }
  };

  test('if the commands of a ring do not fit into any of its windows', () => {
    const short = [sunday('01:00', '01:09')];
    expect(fault(definitionOf({ rings, windows: short }))).toEqual(['window_too_short', 0, { seconds: 600 }]);
    expect(fault(definitionOf({ rings, windows: [...short, sunday('02:00', '02:10')] }))).toBeNull();
    expect(fault(definitionOf({ rings }))).toBeNull();
  });

  test('only for rings that have members, and the windows of a ring replace those of the rollout', () => {
    const [first, second] = [ringUpTo(5_000), ringUpTo(10_000, { windows: [sunday('01:00', '01:05')] })];
    const definition = definitionOf({ rings: [first, second], windows: [sunday('01:00', '05:00')] });
    expect(fault(definition)).toEqual(['window_too_short', 1, { seconds: 600 }]);
    expect(fault(definition, [ringPlan(5, 600), ringPlan(0, 600)])).toBeNull();
    expect(fault(definition, [ringPlan(5, 600), ringPlan(5, 300)])).toBeNull();
  });
});

describe('RO-4 a plan states when the rollout ends', () => {
  test('at the earliest and probably, which long commands delay', () => {
    const [earliest, likely] = ends();
    const { soakSeconds, bakeSeconds } = ringUpTo(10_000).gates;
    expect(earliest).toBeGreaterThan(2 * soakSeconds + bakeSeconds);
    expect(likely).toBeGreaterThan(earliest);
    const [, slow] = ends({}, [], defaultRules, [ringPlan(5, 6_000), ringPlan(5, 6_000)]);
    expect(slow).toBeGreaterThan(likely);
  });

  test('from its start, if it starts later', () => {
    const [earliest, likely] = ends();
    const later = ends({ startAt: new Date(now.getTime() + hourMs) });
    expect(later).toEqual([earliest + 3_600, likely + 3_600]);
    expect(ends({ startAt: new Date(now.getTime() - hourMs) })).toEqual([earliest, likely]);
  });

  test('RO-36 after a freeze, unless an admin exempted it or it is a revert', () => {
    const [earliest, likely] = ends();
    const [from, to] = [-1, 2].map((hours) => new Date(now.getTime() + hours * hourMs).toISOString()) as [
      string,
      string,
    ];
    const freeze = (exempt: string[]) => [{ from, to, reason: 'holidays', exempt }];
    expect(ends({}, freeze([]))).toEqual([earliest + 7_200, likely + 7_200]);
    expect(ends({}, freeze(['b']))).toEqual([earliest + 7_200, likely + 7_200]);
    expect(ends({}, freeze(['a']))).toEqual([earliest, likely]);
    expect(ends({ kind: 'revert' }, freeze([]))).toEqual([earliest, likely]);
  });

  test('RO-35 in its windows, or not at all if there is none into which a step fits', () => {
    const inWindow = ends({ definition: definitionOf({ rings, windows: [sunday('11:00', '23:00')] }) });
    expect(inWindow).toEqual(ends());
    const [earliest] = ends({ definition: definitionOf({ rings, windows: [sunday('15:00', '23:00')] }) });
    expect(earliest).toBe(ends()[0] + 3 * 3_600);
    const never = definitionOf({ rings, windows: [sunday('15:00', '15:01')] });
    expect(ends({ definition: never })).toEqual([null, null]);
  });

  test('RO-12 at the lower one of the rates of the portal and of the rollout', () => {
    const many = [ringPlan(10_000, 600)];
    const at = (portal: number, own: number | null) => {
      const { gates } = ringUpTo(10_000);
      const fast = ringUpTo(10_000, { gates: { ...gates, inFlight: { share: 10_000 }, ramp: false } });
      const definition = definitionOf({ rings: [fast], stepsPerSecond: own });
      return ends({ definition }, [], { ...defaultRules, stepsPerSecond: portal }, many)[0];
    };
    expect(at(100, 10)).toBe(at(10, null));
    expect(at(10, 5_000)).toBe(at(10, null));
    expect(at(10, null) - at(100, null)).toBe(900);
  });
});

import { describe, expect, it } from 'vitest';
import { drawnEvents, lanesOf, placeOf, rangeOf, timeMarks } from './lanes.ts';
import type { RelationEvent } from './relation-data.ts';

const event = (clock: number, unit: string, kind: RelationEvent['kind'] = 'changed', at = '2026-11-29T12:00:00Z') =>
  ({ clock, unit, kind, at, version: 1, run: null, changes: [] }) satisfies RelationEvent;
const clocks = (events: readonly RelationEvent[]) => events.map(({ clock }) => clock);

describe('EN-74 the lanes of a history', () => {
  it('are the units in the order in which they joined', () => {
    const events = [event(4, 'a/0'), event(3, 'b/0'), event(2, 'b/0', 'joined'), event(1, 'a/0', 'joined')];
    expect(lanesOf(events).map(({ unit, events: own }) => [unit, clocks(own)])).toEqual([
      ['a/0', [1, 4]],
      ['b/0', [2, 3]],
    ]);
  });

  it('are one lane if there are too many units', () => {
    const events = Array.from({ length: 13 }, (_, index) => event(13 - index, `a/${index}`));
    expect(lanesOf(events)).toMatchObject([{ unit: null }]);
    expect(lanesOf(events.slice(1))).toHaveLength(12);
  });

  it('are none without a history', () => {
    expect(lanesOf([])).toEqual([]);
  });
});

describe('the slider', () => {
  it.each([
    [[], 7, { from: 7, to: 7 }],
    [[event(7, 'a/0'), event(3, 'a/0')], 7, { from: 3, to: 7 }],
    [[event(7, 'a/0')], 5, { from: 5, to: 5 }],
  ])('covers the loaded events up to now', (events, clock, expected) => {
    expect(rangeOf(events, clock)).toEqual(expected);
  });

  it.each([
    [3, 0],
    [5, 0.5],
    [7, 1],
  ])('has clock %i at %d', (clock, expected) => {
    expect(placeOf(clock, { from: 3, to: 7 })).toBe(expected);
    expect(placeOf(clock, { from: clock, to: clock })).toBe(1);
  });

  it('names times that are far enough apart, and no hour twice', () => {
    const events = [
      event(10, 'a/0', 'changed', '2026-11-29T13:00:00Z'),
      event(6, 'a/0', 'changed', '2026-11-29T12:30:00Z'),
      event(5, 'a/0', 'changed', '2026-11-29T12:00:00Z'),
      event(1, 'a/0', 'changed', '2026-11-28T12:00:00Z'),
      event(0, 'a/0', 'changed', '2026-11-27T12:00:00Z'),
    ];
    const range = { from: 0, to: 10 };
    expect(timeMarks(events, range, 0.2).map(({ clock }) => clock)).toEqual([0, 5]);
    expect(timeMarks(events, range, 0.05).map(({ clock }) => clock)).toEqual([0, 1, 5]);
  });

  it('draws events of a kind that are close together as one', () => {
    const range = { from: 0, to: 10_000 };
    const events = [
      event(1, 'a/0', 'joined'),
      event(2, 'a/0'),
      event(3, 'a/0', 'left'),
      event(4, 'a/0'),
      event(90, 'a/0'),
      event(95, 'a/0', 'joined'),
    ];
    expect(clocks(drawnEvents(events, range))).toEqual([1, 2, 3, 90, 95]);
  });
});

import { describe, expect, it } from 'vitest';
import { numberFrom, randomFrom, Schedule } from './schedule.ts';

const agents = Uint32Array.from([1, 2, 3, 4, 5]);
const taken = (schedule: Schedule, count: number): [agent: number, at: number][] =>
  Array.from({ length: count }, () => {
    const at = schedule.nextAt;
    return [schedule.take(), at];
  });

describe('Schedule', () => {
  it('calls every agent once per period, at the same offset', () => {
    const calls = taken(new Schedule(agents, 1_000, randomFrom(7)), 15);
    const [first, second, third] = [calls.slice(0, 5), calls.slice(5, 10), calls.slice(10)];
    expect(first.map(([agent]) => agent).sort()).toEqual([1, 2, 3, 4, 5]);
    expect(second).toEqual(first.map(([agent, at]) => [agent, at + 1_000]));
    expect(third).toEqual(first.map(([agent, at]) => [agent, at + 2_000]));
    expect(calls.map(([, at]) => at)).toEqual(calls.map(([, at]) => at).sort((a, b) => a - b));
  });

  it('is the same for the same seed', () => {
    const of = (word: string) => taken(new Schedule(agents, 1_000, randomFrom(numberFrom(word))), 5);
    expect(of('annex')).toEqual(of('annex'));
    expect(of('annex')).not.toEqual(of('other'));
  });

  it('is empty without agents', () => {
    expect(new Schedule(new Uint32Array(), 1_000, randomFrom(7)).nextAt).toBe(Number.POSITIVE_INFINITY);
  });
});

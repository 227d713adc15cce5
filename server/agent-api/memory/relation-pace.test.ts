import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { RelationPace } from './relation-pace.ts';

let heard: string[];
let pace: RelationPace;
beforeEach(() => {
  vi.useFakeTimers();
  heard = [];
  pace = new RelationPace((relation) => void heard.push(relation), Date.now);
});
afterEach(() => {
  pace.close();
  vi.useRealTimers();
});

const move = (times: number, relation = '3') => {
  for (let n = 0; n < times; n += 1) pace.moved(relation);
};

describe('news of a relation', () => {
  test('is passed on as it arrives while the relation changes at most 60 times a minute', () => {
    move(60);
    expect(heard).toHaveLength(60);
  });

  test('is passed on every 10 seconds while the relation changes more often, and none is lost', () => {
    for (let second = 0; second < 180; second += 1) {
      move(10);
      vi.advanceTimersByTime(1_000);
    }
    vi.advanceTimersByTime(10_000);
    // 60 immediately, and then one every 10 seconds, even in the following minutes.
    expect(heard.length).toBeGreaterThan(60 + 15);
    expect(heard.length).toBeLessThanOrEqual(60 + 19);
  });

  test('of another relation is not held back', () => {
    move(200);
    heard = [];
    move(3, '5');
    expect(heard).toEqual(['5', '5', '5']);
  });

  test('is passed on as it arrives again after the relation was calm for a minute', () => {
    move(200);
    vi.advanceTimersByTime(120_000);
    heard = [];
    move(2);
    expect(heard).toEqual(['3', '3']);
  });

  test('of many relations does not fill the memory', () => {
    for (let relation = 0; relation < 10_050; relation += 1) pace.moved(String(relation));
    vi.advanceTimersByTime(120_000);
    pace.moved('last');
    expect(heard).toHaveLength(10_051);
  });
});

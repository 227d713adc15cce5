import { describe, expect, test } from 'vitest';
import { isSignificant, isWorse } from './compare.ts';
import { halts } from './testing/halts.ts';

test.each(halts)('RO-25 with %i rings, the test halts at %i:%i and not one earlier', (rings, changed, control) => {
  expect(isSignificant(changed, control, rings)).toBe(true);
  expect(isSignificant(changed - 1, control, rings)).toBe(false);
});

test('RO-25 does not halt at 6:0 and 9:1, and never where controls fail as often', () => {
  expect(isSignificant(6, 0, 1)).toBe(false);
  expect(isSignificant(9, 1, 1)).toBe(false);
  expect(isSignificant(0, 50, 1)).toBe(false);
  expect(isSignificant(300, 300, 1)).toBe(false);
});

test('RO-25 a significant difference halts only if it is as large as the effect that matters', () => {
  const pairs = { changedFirst: 7, controlFirst: 0 };
  expect(isWorse({ ...pairs, resolved: 700 }, 1, 100)).toBe(true);
  expect(isWorse({ ...pairs, resolved: 701 }, 1, 100)).toBe(false);
});

describe('RO-25 false alarms, by exact recursion to 600 discordant pairs', () => {
  /** Share of histories that halt, in hundredths of a percent, if either VM of a pair fails first with equal chance. */
  function falseAlarms(rings: number): number {
    const steps = 600;
    const thresholds = thresholdsUpTo(steps, rings);
    // Histories that have not halted, by the number of pairs in which the changed VM was first.
    let ways = [1n];
    let halted = 0n;
    for (let pairs = 1; pairs <= steps; pairs += 1) {
      const next: bigint[] = [];
      for (let changed = 0; changed <= pairs; changed += 1)
        next.push((ways[changed] ?? 0n) + (ways[changed - 1] ?? 0n));
      for (let changed = thresholds[pairs] ?? pairs + 1; changed <= pairs; changed += 1) {
        halted += (next[changed] ?? 0n) << BigInt(steps - pairs);
        next[changed] = 0n;
      }
      ways = next;
    }
    return Number((halted * 10_000n) >> BigInt(steps));
  }

  /** For each number of pairs, the smallest number of changed-first ones that halts. */
  function thresholdsUpTo(steps: number, rings: number): number[] {
    const thresholds: number[] = [];
    let lead = 0;
    for (let pairs = 0; pairs <= steps; pairs += 1) {
      let changed = Math.max(lead, Math.floor(pairs / 2) + 1);
      while (changed <= pairs && !isSignificant(changed, pairs - changed, rings)) changed += 1;
      thresholds.push(changed);
      lead = changed <= pairs ? changed : lead;
    }
    return thresholds;
  }

  test('are 3.5 % for one ring', () => {
    expect(Math.round(falseAlarms(1) / 10)).toBe(35);
  });

  test('are 0.9 % a ring for four rings, so that a rollout has at most 5 %', () => {
    const alarms = falseAlarms(4);
    expect(Math.round(alarms / 10)).toBe(9);
    expect(4 * alarms).toBeLessThanOrEqual(500);
  });
});

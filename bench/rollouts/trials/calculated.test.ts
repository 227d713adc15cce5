import { expect, test } from 'vitest';
import { randomFrom } from '../../load/schedule.ts';
import { falseAlarmRate, pairsUntilSeen } from './calculated.ts';

test('RO-25 the calculated false alarms are those of the exact recursion: 3.5 % for one ring, 0.9 % for four', () => {
  expect(falseAlarmRate(1, 600)).toBeCloseTo(0.035, 3);
  expect(falseAlarmRate(4, 600)).toBeCloseTo(0.009, 3);
});

test('RO-25 the larger the difference, the fewer pairs show it', () => {
  const seen = (changed: number) =>
    pairsUntilSeen({ rings: 4, changed, others: 0.01, random: randomFrom(1), runs: 100 }).median;
  expect(seen(0.5)).toBeLessThan(25);
  expect(seen(0.2)).toBeGreaterThan(35);
  expect(seen(0.2)).toBeLessThan(60);
});

test('RO-25 a version that fails as often as others is hardly ever stopped', () => {
  const { missed } = pairsUntilSeen({ rings: 4, changed: 0.05, others: 0.05, random: randomFrom(1), runs: 100 });
  expect(missed).toBeGreaterThanOrEqual(95);
});

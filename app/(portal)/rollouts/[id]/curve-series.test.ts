import { expect, test } from 'vitest';
import { curveSeries } from './curve-series.ts';

const point = { at: '2026-03-01T10:00:00.000Z', decided: 0, failed: 0, pairs: 0, changedFirst: 0, controlFirst: 0 };
const open = { both: 0, low: 0, high: 1, difference: 0, haltsAt: 7 };

test('the lines are the shares that failed and the running sum with what the pairs do not rule out', () => {
  const later = { decided: 96, failed: 5, pairs: 58, changedFirst: 4, controlFirst: 1, both: 2, difference: 3 };
  const lines = curveSeries([
    { ...point, ...open },
    { ...point, ...open, ...later, low: 0.25, high: 0.95, haltsAt: 9 },
  ]);
  expect(lines).toMatchObject({
    ...{ changed: [0, 5 / 96], unchanged: [0, 3 / 58], difference: [0, 3], haltsAt: [7, 9] },
  });
  expect(lines.low).toEqual([-0, -2.5]);
  expect(lines.high[1]).toBeCloseTo(4.5);
});

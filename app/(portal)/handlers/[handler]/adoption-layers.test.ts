import { expect, test } from 'vitest';
import { layersOf, spread } from './adoption-layers.ts';
import { rateStatus } from './failure-rate.ts';
import { seriesOf } from './series.ts';

const version = (name: string, vms: number) => ({ version: name, vms });

test('up to five versions each have a color; of six or more, four have a color each, and the rest share the fifth', () => {
  const five = ['5.0', '4.0', '3.0', '2.0', '1.0'].map((name, index) => version(name, index + 1));
  expect([...seriesOf([version('6.0', 0), ...five])]).toEqual([
    ['5.0', 1],
    ['4.0', 2],
    ['3.0', 3],
    ['2.0', 4],
    ['1.0', 5],
  ]);
  expect([...seriesOf([version('6.0', 1), ...five]).keys()]).toEqual(['4.0', '3.0', '2.0', '1.0']);
});

test('layers go from the other versions at the bottom to the highest version on top, and end now', () => {
  const current = [version('2.0', 7), version('1.0', 3), version('0.9', 0)];
  const at = new Date('2026-01-01T00:00:00Z');
  const now = new Date('2026-01-02T00:00:00Z');
  const counted = { versions: ['0.9', '1.0'], points: [{ at, vms: [4, 5] }] };
  expect(layersOf(counted, seriesOf(current), current, now)).toEqual({
    layers: [
      { version: null, series: 0, count: 1, versions: [] },
      { version: '1.0', series: 2, count: 1, versions: ['1.0'] },
      { version: '2.0', series: 1, count: 1, versions: ['2.0'] },
    ],
    points: [
      { at, vms: [4, 5, 0] },
      { at: now, vms: [0, 3, 7] },
    ],
  });
});

test('labels that would overlap move apart and stay inside the chart', () => {
  expect(spread([100, 98, 10], 16, 200)).toEqual([100, 84, 10]);
  expect(spread([20, 15, 10], 16, 200)).toEqual([40, 24, 8]);
  expect(spread([200], 16, 200)).toEqual([192]);
});

test.each([
  [0, null],
  [0.0099, null],
  [0.01, 'warning'],
  [0.049, 'warning'],
  [0.05, 'failed'],
])('a share of %s failed is shown as %s', (share, status) => expect(rateStatus(share)).toBe(status));

import { describe, expect, test } from 'vitest';
import { isSignificant } from './compare.ts';
import { haltsAt, shareBand } from './curve-band.ts';
import { halts } from './testing/halts.ts';

const percents = ({ low, high }: { low: number; high: number }) => [Math.round(low * 100), Math.round(high * 100)];

test.each(halts)('RO-25 with %i rings, the curve draws the halt at %i:%i', (rings, changed, control) => {
  expect(haltsAt(control, rings)).toBe(changed);
});

test('RO-25 the drawn threshold is that of the test, up to 400 pairs of which the unchanged VM failed first', () => {
  for (const rings of [1, 2, 4, 20]) {
    for (const control of [0, 1, 5, 17, 60, 250, 400]) {
      const changed = haltsAt(control, rings);
      expect(isSignificant(changed, control, rings)).toBe(true);
      expect(isSignificant(changed - 1, control, rings)).toBe(false);
    }
  }
});

describe('the confidence band', () => {
  test('is everything while no pair has a VM that failed first', () => {
    expect(shareBand(0, 0, 4)).toEqual({ low: 0, high: 1 });
  });

  test.each([
    { changed: 4, control: 1, rings: 1, band: [26, 100] },
    { changed: 1, control: 4, rings: 1, band: [0, 74] },
    { changed: 10, control: 10, rings: 1, band: [22, 78] },
    { changed: 100, control: 100, rings: 1, band: [39, 61] },
    { changed: 10, control: 10, rings: 4, band: [19, 81] },
    { changed: 0, control: 3, rings: 1, band: [0, 71] },
  ])('of $changed:$control in $rings rings is $band', ({ changed, control, rings, band }) => {
    expect(percents(shareBand(changed, control, rings))).toEqual(band);
  });

  test('RO-25 is above one half exactly if the test finds changed VMs worse', () => {
    for (const rings of [1, 4]) {
      for (let changed = 0; changed <= 30; changed += 1) {
        for (let control = 0; control <= 30; control += 1) {
          const { low, high } = shareBand(changed, control, rings);
          expect(low > 0.5).toBe(isSignificant(changed, control, rings));
          expect(high < 0.5).toBe(isSignificant(control, changed, rings));
          const share = changed + control === 0 ? 0.5 : changed / (changed + control);
          expect([low <= share, share <= high]).toEqual([true, true]);
        }
      }
    }
  });
});

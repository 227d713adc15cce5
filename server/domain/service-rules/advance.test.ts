import { describe, expect, test } from 'vitest';
import { newUnitRecord } from '#protocol/unit-record.ts';
import { type AdvancingUnit, advance, isConfirmed } from './advance.ts';

const one = { upgrade: 1, configure: 1 };
const old = { formulaVersion: '1.0', settingsVersion: 1 };
const next = { formulaVersion: '1.1', settingsVersion: 2 };

/** A unit that has confirmed some versions and should have others; without versions, it has not started. */
function unit(number: number, should: typeof old, confirmed: typeof old | null, isFailing = false): AdvancingUnit {
  const empty = newUnitRecord();
  const record =
    confirmed === null
      ? empty
      : {
          ...empty,
          formula: confirmed.formulaVersion,
          configured: { settings: confirmed.settingsVersion, formula: confirmed.formulaVersion, boot: null },
          started: { boot: null },
        };
  return { id: `${number}`, number, ...should, record, isFailing };
}

describe('EN-56 an upgrade', () => {
  const three = [0, 1, 2].map((number) => unit(number, old, old));

  test('begins with the first unit', () => {
    expect(advance(next, three.toReversed(), one)).toEqual(['0']);
  });

  test('waits for a unit that has not confirmed its versions', () => {
    expect(advance(next, [unit(0, next, old), ...three.slice(1)], one)).toEqual([]);
    expect(advance(next, [unit(0, next, next), ...three.slice(1)], one)).toEqual(['1']);
  });

  test('stops at a unit that fails, whatever the limit is', () => {
    const failing = [unit(0, next, old, true), ...three.slice(1)];
    expect(advance(next, failing, { upgrade: 3, configure: 3 })).toEqual([]);
  });

  test('takes units that have not started immediately', () => {
    expect(advance(next, [unit(0, next, old), unit(1, old, old), unit(2, old, null)], one)).toEqual(['2']);
  });

  test('takes as many units as the limit allows', () => {
    expect(advance(next, three, { upgrade: 2, configure: 1 })).toEqual(['0', '1']);
    expect(advance(next, three, { upgrade: null, configure: 1 })).toEqual(['0', '1', '2']);
  });

  test('EN-57 going back begins with the unit that failed, and leaves the others as they are', () => {
    expect(advance(old, [unit(0, next, old, true), ...three.slice(1)], one)).toEqual(['0']);
  });
});

test('a started unit from which settings are withheld keeps its versions, and the others continue', () => {
  const withheld = { ...unit(0, old, old), needsRelease: true };
  expect(advance(next, [withheld, unit(1, old, old)], one)).toEqual(['1']);
  expect(advance(next, [{ ...unit(0, old, null), needsRelease: true }], one)).toEqual(['0']);
});

test('other settings have a separate limit', () => {
  const settings = { ...old, settingsVersion: 2 };
  const units = [0, 1, 2].map((number) => unit(number, old, old));
  expect(advance(settings, units, { upgrade: 1, configure: 2 })).toEqual(['0', '1']);
});

test('EN-56 with a limit of one, there are never two units that have not confirmed their versions', () => {
  let units = Array.from({ length: 5 }, (_, number) => unit(number, old, old));
  for (let turn = 0; turn < 10; turn += 1) {
    const moved = advance(next, units, one);
    units = units.map((each) => (moved.includes(each.id) ? { ...each, ...next } : each));
    const open = units.filter((each) => !isConfirmed(each));
    expect(open.length).toBeLessThanOrEqual(1);
    units = units.map((each) => (open.includes(each) ? unit(each.number, next, next) : each));
  }
  expect(units.every((each) => each.formulaVersion === next.formulaVersion && isConfirmed(each))).toBe(true);
});

/** Random numbers below a limit, the same for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 7_919;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

describe('EN-56 over random histories of declarations, hooks and failures', () => {
  test.each([1, 2, 3, 4, 5, 6])('history %i', (seed) => {
    const random = randomOf(seed);
    const limit = 1 + random(3);
    const atOnce = { upgrade: limit, configure: limit };
    const versions = Array.from({ length: 4 }, (_, number) => ({
      ...{ formulaVersion: `1.${number}`, settingsVersion: number },
    }));
    const versionOf = (number: number) => versions[number] ?? old;
    let target = versionOf(0);
    let units = Array.from({ length: 6 }, (_, number) => unit(number, target, random(3) === 0 ? null : target));
    const give = () => {
      const moved = advance(target, units, atOnce);
      units = units.map((each) => (moved.includes(each.id) ? { ...each, ...target } : each));
    };
    /** Has a unit run its hooks. If they succeed, it confirms its versions and no longer fails. */
    const run = (number: number, fails: boolean) => {
      units = units.map((each) => {
        if (each.number !== number || isConfirmed(each)) return each;
        return fails ? { ...each, isFailing: true } : unit(number, each, each);
      });
    };
    for (let step = 0; step < 200; step += 1) {
      const before = units.filter((each) => each.record.started !== null && !isConfirmed(each)).length;
      if (random(10) === 0) target = versionOf(random(4));
      else run(random(6), random(4) === 0);
      give();
      const after = units.filter((each) => each.record.started !== null && !isConfirmed(each)).length;
      expect(after).toBeLessThanOrEqual(Math.max(limit, before));
    }
    for (let round = 0; round < 20; round += 1) {
      for (const { number } of units) run(number, false);
      give();
    }
    expect(units.filter((each) => each.formulaVersion !== target.formulaVersion || !isConfirmed(each))).toEqual([]);
  });
});

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

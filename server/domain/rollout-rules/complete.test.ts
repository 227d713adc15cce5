import { describe, expect, test } from 'vitest';
import { parse } from '#server/domain/parse.ts';
import { completeDefinition, completeStrategy, strategyOf } from './complete.ts';
import { rolloutInput, strategyInput } from './input.ts';
import { filterInput } from './select-input.ts';
import { builtInStrategies } from './strategies.ts';

const filter = filterInput([{ name: 'tags', value: { kind: 'tags', max: 256, count: 16 } }]);
const minimal = {
  name: 'probe 1.1',
  select: { all: true },
  change: { kind: 'set', handler: 'Acme.Lab.Probe', version: '1.1.0.0' },
};
const { careful, automatic } = builtInStrategies;
const complete = (changes: Record<string, unknown> = {}, strategy = careful) =>
  completeDefinition(parse(rolloutInput(filter), { ...minimal, ...changes }), strategy);
const ring = (percent: number, more = {}) => ({ name: `up to ${percent}`, upTo: { percent }, ...more });

/** A strategy whose rings soak for 10 and for 20 seconds. */
const soaks = {
  ...careful,
  rings: careful.rings
    .slice(2)
    .map((one, index) => ({ ...one, gates: { ...one.gates, soakSeconds: 10 + 10 * index } })),
};

describe('gates come from', () => {
  const soaksOf = (changes: Record<string, unknown>) =>
    complete(changes, soaks).definition.rings.map(({ gates }) => gates.soakSeconds);
  const three = [ring(10), ring(50), ring(100)];

  test.each<[string, Record<string, unknown>, number[]]>([
    ['the strategy’s rings', {}, [10, 20]],
    ['the strategy’s last ring, if there are more rings', { rings: three }, [10, 20, 20]],
    ['all rings, before the strategy', { gates: { soakSeconds: 30 } }, [30, 30]],
    [
      'the ring, before all rings',
      { rings: [ring(10, { gates: { soakSeconds: 40 } }), ring(100)], gates: { soakSeconds: 30 } },
      [40, 30],
    ],
    ['the ring, even if it is zero', { rings: [ring(100, { gates: { soakSeconds: 0 } })] }, [0]],
  ])('%s', (_, changes, seconds) => {
    expect(soaksOf(changes)).toEqual(seconds);
  });

  test('a ring’s own gate, which may be on where all rings have it off, and off where they have it on', () => {
    const own = (compare: unknown) => ring(compare === null ? 10 : 100, { gates: { compare } });
    const { rings } = complete({ rings: [own(null), own({ minPairs: 7 })] }).definition;
    expect(rings.map(({ gates }) => gates.compare)).toEqual([
      null,
      { minEffectShare: 100, minPairs: 7, onTooFew: 'goOn' },
    ]);
    const { rings: off } = complete({ rings: [ring(10), own({ minPairs: 7 })], gates: { compare: null } }).definition;
    expect(off.map(({ gates }) => gates.compare?.minPairs)).toEqual([undefined, 7]);
  });

  test('the other fields of a ring stay as they are given, and nothing else is inherited', () => {
    const canary = { name: 'canary', filter: { tags: ['ring=canary'] }, approval: true };
    const { rings } = complete({ rings: [canary, ring(100)] }).definition;
    expect(rings[0]).toMatchObject({
      ...{ name: 'canary', upTo: null, approval: true, windows: [] },
      filter: { tags: [{ name: 'ring', value: 'canary' }] },
    });
    expect(rings[1]).toMatchObject({ upTo: { share: 10_000 }, approval: false, filter: null });
  });
});

describe('everything else', () => {
  test('comes from the strategy', () => {
    expect(complete({}, automatic).definition).toMatchObject({ newcomers: 'include', onStepFailure: 'revert' });
    expect(complete().definition).toMatchObject({ newcomers: 'ignore', onStepFailure: 'leave' });
  });

  test('is as it is given, whatever the strategy says', () => {
    const given = {
      ...{ silent: 'skip', newcomers: 'include', onStepFailure: 'leave', onHalt: 'revert', keepDays: 0 },
      ...{ availabilitySets: 'ignore', stepsPerSecond: 7, startAt: '2026-07-06T12:00:00.000Z' },
    };
    expect(complete(given, automatic).definition).toMatchObject(given);
    const retry = complete({ retry: { times: 2, causes: ['exit'] } }).definition.retry;
    expect(retry).toEqual({ times: 2, afterSeconds: 300, causes: ['exit'] });
  });

  test('is the same for a start in another time zone', () => {
    expect(complete({ startAt: '2026-07-06T14:00:00+02:00' }).definition.startAt).toBe('2026-07-06T12:00:00.000Z');
  });

  test('the time without progress is one for the rollout, and not a gate of its rings', () => {
    const { noProgressSeconds, rings } = complete({ gates: { noProgressSeconds: 3_600 } }).definition;
    expect(noProgressSeconds).toBe(3_600);
    expect(rings.filter(({ gates }) => 'noProgressSeconds' in gates)).toEqual([]);
  });

  test('VMs that may have moved: no share means the default, and 0 means none', () => {
    expect(complete().definition.maxMovedShare).toBeNull();
    expect(complete({ maxMovedPercent: 0 }).definition.maxMovedShare).toBe(0);
  });
});

test('RO-8 every fault of the boundaries has the path of its ring', () => {
  const rings = [ring(50), ring(20), ring(20), ring(99)];
  expect(complete({ rings }).faults).toEqual([
    { path: '/rings/1/upTo', code: 'ring_shares' },
    { path: '/rings/2/upTo', code: 'ring_shares' },
    { path: '/rings/3/upTo', code: 'ring_last' },
  ]);
});

test.each([
  [{ kind: 'rollout', strategy: undefined }, 'careful'],
  [{ kind: 'rollout', strategy: 'Night shift' }, 'Night shift'],
  [{ kind: 'bulk', strategy: 'Night shift' }, 'at-once'],
] as const)('%j is completed by the strategy %s', (input, name) => {
  expect(strategyOf(input)).toBe(name);
});

describe('a saved strategy', () => {
  const save = (given: Record<string, unknown>) => completeStrategy(parse(strategyInput(filter), given));

  test('that says nothing is careful', () => {
    expect(save({})).toEqual({ strategy: careful, faults: [] });
  });

  test('keeps what it says', () => {
    const given = { silent: 'declare', newcomers: 'include', onStepFailure: 'revert', onHalt: 'revert' };
    expect(save({ ...given, retry: { times: 3 } }).strategy).toMatchObject({ ...given, retry: { times: 3 } });
  });
});

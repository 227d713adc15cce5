import { describe, expect, test } from 'vitest';
import { parse } from '#server/domain/parse.ts';
import { completeDefinition } from './complete.ts';
import { rolloutInput, rolloutRulesInput } from './input.ts';
import { kindAt, kindPosition, succeedsOnDelivery, winningKind } from './kinds.ts';
import { boundaryFaults, ringSizes } from './rings.ts';
import { filterInput } from './select-input.ts';
import { builtInNames, builtInStrategies, builtInStrategy, defaultRules, revertStrategy } from './strategies.ts';
import { memberKinds } from './words.ts';

const percents = (name: keyof typeof builtInStrategies) =>
  builtInStrategies[name].rings.map(({ upTo }) => (upTo && 'share' in upTo ? upTo.share / 100 : null));

describe('built-in strategies', () => {
  test.each([
    ['careful', [1, 10, 50, 100]],
    ['automatic', [1, 20, 100]],
    ['at-once', [100]],
  ] as const)('%s has rings up to %j percent', (name, rings) => {
    expect(percents(name)).toEqual(rings);
    expect(boundaryFaults(builtInStrategies[name].rings)).toEqual([]);
  });

  test('careful: 10 % in flight with a ramp, 5 min soak, 30 min bake, 5 % errors, 95 % success, a comparison', () => {
    for (const { gates } of builtInStrategies.careful.rings) {
      expect(gates).toMatchObject({
        inFlight: { share: 1_000 },
        ramp: true,
        soakSeconds: 300,
        bakeSeconds: 1_800,
        errors: { share: 500, atLeast: 20 },
        success: { share: 9_500 },
        compare: { minEffectShare: 100, minPairs: 50, onTooFew: 'goOn' },
      });
    }
    expect(builtInStrategies.careful).toMatchObject({ silent: 'wait', newcomers: 'ignore', onStepFailure: 'leave' });
  });

  test('automatic: 20 % in flight, 1 h bake, 2 % errors; failed VMs are reverted, and newcomers join', () => {
    for (const { gates } of builtInStrategies.automatic.rings) {
      expect(gates).toMatchObject({
        inFlight: { share: 2_000 },
        bakeSeconds: 3_600,
        errors: { share: 200, atLeast: 50 },
      });
    }
    expect(builtInStrategies.automatic).toMatchObject({ newcomers: 'include', onStepFailure: 'revert' });
  });

  test('at-once: 200 in flight without soak, bake, success and comparison; silent VMs are declared', () => {
    expect(builtInStrategies['at-once'].rings[0]?.gates).toMatchObject({
      inFlight: { count: 200 },
      ramp: false,
      soakSeconds: 0,
      bakeSeconds: 0,
      errors: { share: 2_000, atLeast: 20 },
      success: null,
      compare: null,
    });
    expect(builtInStrategies['at-once'].silent).toBe('declare');
  });

  test('RO-31 a revert has one ring without any gate, and keeps its limit in flight', () => {
    expect(revertStrategy.rings).toHaveLength(1);
    expect(revertStrategy.rings[0]?.gates).toMatchObject({
      inFlight: { count: 200 },
      soakSeconds: 0,
      bakeSeconds: 0,
      errors: null,
      success: null,
      compare: null,
    });
  });

  test('the ring of one VM is the first, so a fleet of one VM is changed in the first ring', () => {
    for (const name of builtInNames) expect(ringSizes(builtInStrategies[name].rings, 1)[0]).toBe(1);
  });

  test('are found by name, and no other name is one', () => {
    expect(builtInStrategy('careful')).toBe(builtInStrategies.careful);
    for (const name of ['Careful', '', 'toString', '__proto__']) expect(builtInStrategy(name)).toBeNull();
  });

  test.each(builtInNames)('%s completes a definition without rings and gates', (name) => {
    const filter = filterInput([{ name: 'q', value: { kind: 'text', max: 200 } }]);
    const input = parse(rolloutInput(filter), {
      name: 'probe 1.1',
      strategy: name,
      select: { all: true },
      change: { kind: 'retry', handler: 'Acme.Lab.Probe' },
    });
    const { definition, faults } = completeDefinition(input, builtInStrategies[name]);
    expect(faults).toEqual([]);
    expect(definition).toMatchObject({ ...builtInStrategies[name], strategy: name, availabilitySets: 'respect' });
  });
});

describe('kinds of members', () => {
  test.each([
    [['policy'], 'policy'],
    [['policy', 'state'], 'state'],
    [['state', 'settings'], 'settings'],
    [['settings', 'update'], 'update'],
    [['settings', 'lower'], 'lower'],
    [['update', 'install'], 'install'],
    [[], null],
  ] as const)('of %j, %s wins', (kinds, winner) => {
    expect(winningKind(kinds)).toBe(winner);
  });

  test('keep their stored position, and an unknown position is an error', () => {
    for (const kind of memberKinds) expect(kindAt(kindPosition(kind))).toBe(kind);
    // The positions are stored, so they never change.
    expect(['install', 'update', 'revert'].map((kind) => memberKinds.indexOf(kind as 'install'))).toEqual([0, 1, 8]);
    expect(() => kindAt(200)).toThrow(RangeError);
  });

  test('RO-17 only a policy succeeds on delivery', () => {
    expect(memberKinds.filter(succeedsOnDelivery)).toEqual(['policy']);
  });
});

describe('rules of the portal', () => {
  test('RO-12 the defaults are valid', () => {
    expect(parse(rolloutRulesInput, { ...defaultRules, freezes: [] })).toMatchObject({
      stepsPerSecond: 100,
      inFlight: 2_000,
    });
  });

  test.each([
    ['stepsPerSecond', 0],
    ['stepsPerSecond', 5_001],
    ['inFlight', 0],
    ['inFlight', 20_001],
    ['availabilitySetTag', ''],
    ['approval', { fromMembers: 1, people: 4, role: 'admin' }],
    ['approval', { fromMembers: 0, people: 1, role: 'admin' }],
    ['approval', { fromMembers: 1, people: 1, role: 'viewer' }],
  ])('reject %s %j', (field, value) => {
    expect(() => parse(rolloutRulesInput, { ...defaultRules, freezes: [], [field]: value })).toThrow('invalid');
  });
});

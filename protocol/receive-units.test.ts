import { describe, expect, test } from 'vitest';
import { hooksDue } from './hooks.ts';
import { afterOf, forgetRelations, receiveUnits } from './receive-units.ts';
import { newUnitRecord, type UnitRecord } from './unit-record.ts';
import { type UnitRelation, type UnitState, unitState } from './unit-state.ts';

type Members = UnitRelation['members'];

/** A unit state with the unit wordpress/1 and its relation 3. */
function stateOf(clock: number, members: Members, { whole = true, epoch = 'e1' } = {}): UnitState {
  const relation = { id: 3, name: 'db', interface: 'mysql', life: 'alive' as const, clock, whole, members };
  return {
    ...{ protocol: 1, vmId: 'vm', epoch },
    units: [
      {
        ...{ unit: 'wordpress/1', model: 'prod', turn: 14, goal: 'alive', serviceExposed: true, settingsVersion: 4 },
        ...{
          timeouts: { default: 300 },
          masked: [],
          resolution: null,
          addresses: { private: '10.0.0.5', public: null },
        },
        formula: {
          ...{ id: 'Acme.Blog.wordpress', name: 'wordpress', version: '1.2.0.0', hooks: [] },
          package: { sha256: '9'.repeat(64), size: 20_480, url: '/agent/v1/packages/9' },
        },
        relations: [relation],
      },
    ],
  };
}

function recordOf(members: Record<string, number | null>): UnitRecord {
  return {
    ...newUnitRecord('boot'),
    formula: '1.2.0.0',
    configured: { settings: 4, formula: '1.2.0.0', boot: 'boot' },
    started: { boot: 'boot' },
    relations: { 3: { name: 'db', members, broken: false } },
  };
}

const receive = (held: UnitState | null, received: UnitState, members: Record<string, number | null> = {}) =>
  receiveUnits(held, received, () => recordOf(members));
const membersOf = (state: UnitState): Members => state.units[0]?.relations[0]?.members ?? [];
const hooksOf = (state: UnitState, members: Record<string, number | null>): string[] =>
  hooksDue(state.units[0]!, recordOf(members)).map(({ kind, remoteUnit, version }) =>
    [kind, remoteUnit, version].filter((part) => part !== undefined).join(' '),
  );

const both: Members = [
  { unit: 'mysql/0', version: 12, clock: 18 },
  { unit: 'mysql/1', version: 4, clock: 19 },
];

describe('a unit state', () => {
  test('with the members that changed is added to what the agent holds', () => {
    const held = receive(null, stateOf(19, both));
    const delta: Members = [{ unit: 'mysql/1', version: 5, clock: 20 }];
    const merged = receive(held, stateOf(20, delta, { whole: false }), { 'mysql/0': 12, 'mysql/1': 4 });
    expect(hooksOf(merged, { 'mysql/0': 12, 'mysql/1': 4 })).toEqual(['changed mysql/1 5']);
    expect(membersOf(merged)).toHaveLength(2);
    expect(afterOf(merged)).toBe('3:20');
  });

  test('that is whole replaces what the agent holds, and members that it does not name have left', () => {
    const held = receive(null, stateOf(19, both));
    const merged = receive(held, stateOf(25, both.slice(1)), { 'mysql/0': 12, 'mysql/1': 4 });
    expect(hooksOf(merged, { 'mysql/0': 12, 'mysql/1': 4 })).toEqual(['departed mysql/0']);
  });

  test('of a restored portal replaces what the agent holds', () => {
    const held = receive(null, stateOf(19, both));
    const merged = receive(held, stateOf(2, both.slice(0, 1), { epoch: 'e2' }));
    expect(membersOf(merged)).toEqual([{ ...both[0], since: 18 }]);
  });

  test('is requested whole if the agent holds nothing that the changes belong to', () => {
    const merged = receive(null, stateOf(20, both.slice(1), { whole: false }));
    expect(afterOf(merged)).toBe('');
    const known = { 'mysql/0': 12, 'mysql/1': 4 };
    expect(hooksOf(receive(null, stateOf(20, both.slice(1), { whole: false }), known), known)).toEqual([]);
  });
});

describe('EN-36 the place of an event', () => {
  const changed = (unit: string, version: number, clock: number): UnitState =>
    stateOf(clock, [{ unit, version, clock }], { whole: false });
  const known = { 'mysql/0': 12, 'mysql/1': 4 };
  const start = receive(null, stateOf(19, both), known);

  test('is kept if the member changes again before its hook runs', () => {
    const first = receive(start, changed('mysql/0', 13, 20), known);
    const second = receive(first, changed('mysql/1', 5, 21), known);
    const third = receive(second, changed('mysql/0', 14, 22), known);
    expect(hooksOf(third, known)).toEqual(['changed mysql/0 14', 'changed mysql/1 5']);
  });

  test('is that of the new change if the hook of the earlier one has run', () => {
    const first = receive(start, changed('mysql/0', 13, 20), known);
    const second = receive(first, changed('mysql/1', 5, 21), { ...known, 'mysql/0': 13 });
    const third = receive(second, changed('mysql/0', 14, 22), { ...known, 'mysql/0': 13 });
    expect(hooksOf(third, known)).toEqual(['changed mysql/1 5', 'changed mysql/0 14']);
  });

  test('comes from the portal if the portal saw an earlier change', () => {
    const received = stateOf(22, [
      { unit: 'mysql/0', version: 14, clock: 22, since: 20 },
      { unit: 'mysql/1', version: 5, clock: 21 },
    ]);
    expect(hooksOf(receive(null, received, known), known)).toEqual(['changed mysql/0 14', 'changed mysql/1 5']);
  });
});

describe('a member that left', () => {
  const left: Members = [{ unit: 'mysql/0', left: true, clock: 20 }];
  test('is kept until departed has run', () => {
    const held = receive(receive(null, stateOf(19, both)), stateOf(20, left, { whole: false }), { 'mysql/0': 12 });
    expect(hooksOf(held, { 'mysql/0': 12, 'mysql/1': 4 })).toEqual(['departed mysql/0']);
    const next = receive(held, stateOf(21, [], { whole: false }), { 'mysql/1': 4 });
    expect(membersOf(next).map(({ unit }) => unit)).toEqual(['mysql/1']);
  });

  test('is dropped immediately if it never joined', () => {
    const held = receive(receive(null, stateOf(19, both)), stateOf(20, left, { whole: false }), {});
    expect(membersOf(held).map(({ unit }) => unit)).toEqual(['mysql/1']);
  });
});

test('EN-39 a relation that ended is kept in the record until the unit state no longer has it', () => {
  const goal = stateOf(20, []).units[0]!;
  const record = { ...recordOf({}), relations: { 3: { name: 'db', members: {}, broken: true } } };
  expect(forgetRelations(goal, record)).toEqual(record);
  expect(forgetRelations({ ...goal, relations: [] }, record).relations).toEqual({});
  const open = recordOf({ 'mysql/0': 12 });
  expect(forgetRelations({ ...goal, relations: [] }, open)).toEqual(open);
});

describe('the document', () => {
  const [unit] = stateOf(20, both).units;
  test('is read with properties of a newer portal', () => {
    const document = { ...stateOf(20, [...both, { unit: 'mysql/2', left: true, clock: 20 }]), more: 1 };
    expect(unitState.parse(JSON.parse(JSON.stringify(document)))).toEqual(document);
  });

  test.each([
    ['a unit name that would leave its folder', { unit: '../x/1' }],
    ['a hook in another folder', { formula: { ...unit?.formula, hooks: ['../install'] } }],
    ['a hash that is none', { formula: { ...unit?.formula, package: { ...unit?.formula.package, sha256: '..' } } }],
    ['a relation with a reserved name', { relations: [{ ...unit?.relations[0], name: 'juju-info' }] }],
    ['a timeout of more than a day', { timeouts: { default: 300, install: 86_401 } }],
  ])('with %s is rejected', (_, changes) => {
    expect(unitState.safeParse({ ...stateOf(20, both), units: [{ ...unit, ...changes }] }).success).toBe(false);
  });
});

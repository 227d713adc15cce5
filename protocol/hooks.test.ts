import { describe, expect, test } from 'vitest';
import { confirmHook } from './confirm-hook.ts';
import { type DueHook, type HookGoal, hooksDue, membersDuring } from './hooks.ts';
import { newUnitRecord, type UnitRecord } from './unit-record.ts';
import type { UnitRelation } from './unit-state.ts';

/** Parses `db 3 @20: mysql/0=12@18 mysql/1-@20`: a member with version and clock, and one that left. */
function relationOf(line: string): UnitRelation {
  const [, name = '', id, clock, isDying, list = ''] = /^(\S+) (\d+) @(\d+)( dying)?:(.*)$/.exec(line) ?? [];
  const members = list
    .trim()
    .split(' ')
    .filter((each) => each !== '')
    .map((each) => {
      const [, unit = '', version, at] = /^([^=]+?)(?:=(\d+)|-)@(\d+)$/.exec(each) ?? [];
      if (version === undefined) return { unit, left: true as const, clock: Number(at) };
      return { unit, version: Number(version), clock: Number(at) };
    });
  const life = isDying === undefined ? 'alive' : 'dying';
  return { id: Number(id), name, interface: 'mysql', life, clock: Number(clock), whole: true, members };
}

const files = ['install', 'config-changed', 'start', 'db-relation-changed'];

function goalOf(formula: string, settings: number, ...relations: string[]): HookGoal {
  return {
    goal: 'alive',
    formula: { version: formula, hooks: files },
    settingsVersion: settings,
    relations: relations.map(relationOf),
  };
}

const leaving = (goal: HookGoal): HookGoal => ({ ...goal, goal: 'leaving' });

/** A unit that runs formula 1.1 with settings 2. `members` are `mysql/0=12`, or `mysql/0` if `changed` has not ended. */
function started(...members: string[]): UnitRecord {
  const confirmed = members.map((each) => each.split('='));
  return {
    ...newUnitRecord('boot-1'),
    formula: '1.1',
    configured: { settings: 2, formula: '1.1', boot: 'boot-1' },
    started: { boot: 'boot-1' },
    relations: {
      ...(members.length > 0 && {
        3: {
          name: 'db',
          members: Object.fromEntries(
            confirmed.map(([unit, version]) => [unit, version === undefined ? null : Number(version)]),
          ),
          broken: false,
        },
      }),
    },
  };
}

const lineOf = ({ hook, remoteUnit, version, because }: DueHook): string =>
  [hook, remoteUnit, version === undefined ? '' : `v${version}`, `(${because})`].filter((part) => part).join(' ');
const linesOf = (goal: HookGoal, record: UnitRecord): string[] => hooksDue(goal, record).map(lineOf);

describe('the public address of a unit', () => {
  const at = (address: string | null): HookGoal => ({ ...goalOf('1.1', 2), addresses: { public: address } });
  const confirmed = (address?: string | null): UnitRecord => {
    const configured = { settings: 2, formula: '1.1', boot: 'boot-1', ...(address !== undefined && { address }) };
    return { ...started(), configured };
  };

  test.each<[string, HookGoal, UnitRecord, string[]]>([
    ['is the same', at('10.0.0.1'), confirmed('10.0.0.1'), []],
    ['is another one', at('10.0.0.2'), confirmed('10.0.0.1'), ['config-changed (other-address)']],
    ['is gone', at(null), confirmed('10.0.0.1'), ['config-changed (other-address)']],
    ['was not confirmed, because an earlier agent ran the hook', at('10.0.0.2'), confirmed(), []],
    ['is not known to the goal', goalOf('1.1', 2), confirmed('10.0.0.1'), []],
  ])('%s', (_, goal, record, lines) => {
    expect(linesOf(goal, record)).toEqual(lines);
    const [due] = hooksDue(goal, record);
    if (due !== undefined) expect(linesOf(goal, confirmHook(record, due))).toEqual([]);
  });
});

describe('EN-33 life of a unit', () => {
  const installed: UnitRecord = { ...newUnitRecord('boot-1'), formula: '1.1' };
  const configured = { settings: 2, formula: '1.1', boot: 'boot-1' };
  test.each<[string, HookGoal, UnitRecord, string[]]>([
    [
      'a new unit is installed, configured and started, before any hook of a relation',
      goalOf('1.1', 2, 'db 3 @1: mysql/0=1@1'),
      newUnitRecord('boot-1'),
      [
        'install (new-unit)',
        'config-changed (first-settings)',
        'start (not-started)',
        'db-relation-joined mysql/0 v1 (joined)',
        'db-relation-changed mysql/0 v1 (after-joined)',
      ],
    ],
    ['after install', goalOf('1.1', 2), installed, ['config-changed (first-settings)', 'start (not-started)']],
    ['after config-changed', goalOf('1.1', 2), { ...installed, configured }, ['start (not-started)']],
    ['a started unit has no hook due', goalOf('1.1', 2), started(), []],
    [
      'a formula that changes before the unit is installed is installed directly',
      goalOf('1.2', 2),
      newUnitRecord('boot-1'),
      ['install (new-unit)', 'config-changed (first-settings)', 'start (not-started)'],
    ],
    [
      'EN-55 an upgrade runs upgrade-formula and then config-changed',
      goalOf('1.2', 2),
      started(),
      ['upgrade-formula (other-formula)', 'config-changed (other-formula)'],
    ],
    [
      'an earlier formula is an upgrade, too',
      goalOf('1.0', 2),
      { ...started(), configured: null },
      ['upgrade-formula (other-formula)', 'config-changed (first-settings)'],
    ],
    ['new settings of the service', goalOf('1.1', 3), started(), ['config-changed (other-settings)']],
    [
      'EN-79 after a reboot, the unit is configured and started again',
      goalOf('1.1', 2, 'db 3 @9: mysql/0=7@9'),
      { ...started('mysql/0=6'), boot: 'boot-2' },
      ['config-changed (reboot)', 'start (reboot)', 'db-relation-changed mysql/0 v7 (changed)'],
    ],
    [
      'EN-79 after a restart of the agent, no hook is due',
      goalOf('1.1', 2, 'db 3 @9: mysql/0=7@9'),
      started('mysql/0=7'),
      [],
    ],
    ['a unit that leaves stops', leaving(goalOf('1.2', 3)), started(), ['stop (unit-leaving)']],
    ['a unit that was never installed leaves without a hook', leaving(goalOf('1.1', 2)), newUnitRecord('boot-1'), []],
    [
      'a unit that never started has no relation to leave',
      leaving(goalOf('1.1', 2, 'db 3 @1: mysql/0=1@1')),
      installed,
      ['stop (unit-leaving)'],
    ],
    ['a stopped unit has nothing left to do', leaving(goalOf('1.1', 2)), { ...started(), stopped: true }, []],
  ])('%s', (_, goal, record, lines) => {
    expect(linesOf(goal, record)).toEqual(lines);
  });
});

describe('EN-36 the reduction of the queue', () => {
  test.each<[string, HookGoal, UnitRecord, string[]]>([
    [
      'EN-35 joined, then changed several times: joined and changed run once',
      goalOf('1.1', 2, 'db 3 @9: mysql/0=5@9'),
      started(),
      ['db-relation-joined mysql/0 v5 (joined)', 'db-relation-changed mysql/0 v5 (after-joined)'],
    ],
    ['joined, then departed: nothing', goalOf('1.1', 2, 'db 3 @9: mysql/0-@9'), started(), []],
    [
      'EN-35 after joined, changed follows although the node is still empty',
      goalOf('1.1', 2, 'db 3 @1: mysql/0=1@1'),
      started('mysql/0'),
      ['db-relation-changed mysql/0 v1 (after-joined)'],
    ],
    [
      'changed twice: once, with the latest version',
      goalOf('1.1', 2, 'db 3 @9: mysql/0=8@9'),
      started('mysql/0=6'),
      ['db-relation-changed mysql/0 v8 (changed)'],
    ],
    [
      'changed, then departed: departed only',
      goalOf('1.1', 2, 'db 3 @10: mysql/0-@10'),
      started('mysql/0=6'),
      ['db-relation-departed mysql/0 (left)'],
    ],
    [
      'joined without changed, then departed: departed only',
      goalOf('1.1', 2, 'db 3 @10: mysql/0-@10'),
      started('mysql/0'),
      ['db-relation-departed mysql/0 (left)'],
    ],
    [
      'settings 3, then settings 4: config-changed once',
      goalOf('1.1', 4),
      started(),
      ['config-changed (other-settings)'],
    ],
    [
      'formula 1.2, then formula 1.3: upgrade-formula once',
      goalOf('1.3', 2),
      started(),
      ['upgrade-formula (other-formula)', 'config-changed (other-formula)'],
    ],
    [
      'a lower version is a change as well: a backup of the portal was restored',
      goalOf('1.1', 2, 'db 3 @4: mysql/0=3@4'),
      started('mysql/0=6'),
      ['db-relation-changed mysql/0 v3 (changed)'],
    ],
  ])('%s', (_, goal, record, lines) => {
    expect(linesOf(goal, record)).toEqual(lines);
  });
});

describe('EN-39 life of a relation', () => {
  const dying = 'db 3 @12 dying: mysql/0=7@9 mysql/1-@11';
  test.each<[string, HookGoal, UnitRecord, string[]]>([
    [
      'events of a relation run in the order of their clock',
      goalOf('1.1', 2, 'db 3 @20: mysql/0=7@18 mysql/1=2@12 mysql/2-@15'),
      started('mysql/1=1', 'mysql/2=1'),
      [
        'db-relation-changed mysql/1 v2 (changed)',
        'db-relation-departed mysql/2 (left)',
        'db-relation-joined mysql/0 v7 (joined)',
        'db-relation-changed mysql/0 v7 (after-joined)',
      ],
    ],
    [
      'every member that joined departs before the relation is broken',
      goalOf('1.1', 2, dying),
      started('mysql/0=7', 'mysql/1=4'),
      [
        'db-relation-departed mysql/1 (relation-going)',
        'db-relation-departed mysql/0 (relation-going)',
        'db-relation-broken (relation-going)',
      ],
    ],
    [
      'a relation in which no unit joined is broken',
      goalOf('1.1', 2, dying),
      started(),
      ['db-relation-broken (relation-going)'],
    ],
    [
      'a relation that disappeared while the agent was away ends with all its hooks',
      goalOf('1.1', 2),
      started('mysql/1=4', 'mysql/0=7'),
      [
        'db-relation-departed mysql/0 (relation-going)',
        'db-relation-departed mysql/1 (relation-going)',
        'db-relation-broken (relation-going)',
      ],
    ],
    [
      'broken runs once',
      goalOf('1.1', 2, dying),
      { ...started(), relations: { 3: { name: 'db', members: {}, broken: true } } },
      [],
    ],
    [
      'relations that end come before others, whatever their clocks',
      goalOf('1.1', 2, 'cache 2 @1: memcached/0=1@1', 'db 3 @900 dying:'),
      started('mysql/0=1'),
      [
        'db-relation-departed mysql/0 (relation-going)',
        'db-relation-broken (relation-going)',
        'cache-relation-joined memcached/0 v1 (joined)',
        'cache-relation-changed memcached/0 v1 (after-joined)',
      ],
    ],
    [
      'a unit that leaves lets go of its relations and then stops',
      leaving(goalOf('1.2', 3, 'db 3 @20: mysql/0=9@18')),
      started('mysql/0=7'),
      ['db-relation-departed mysql/0 (unit-leaving)', 'db-relation-broken (unit-leaving)', 'stop (unit-leaving)'],
    ],
    [
      'a member that the unit state does not list has not left, if the unit state is not whole',
      { ...goalOf('1.1', 2), relations: [{ ...relationOf('db 3 @20: mysql/1-@20'), whole: false }] },
      started('mysql/0=7', 'mysql/1=1'),
      ['db-relation-departed mysql/1 (left)'],
    ],
  ])('%s', (_, goal, record, lines) => {
    expect(linesOf(goal, record)).toEqual(lines);
  });
});

describe('EN-16 the members during a hook', () => {
  const goal = goalOf('1.1', 2, 'db 3 @20: mysql/10=7@18 mysql/2=2@12 mysql/1-@20');
  const record = started('mysql/1=1', 'mysql/2=2');
  const dueIn = (one: HookGoal, confirmed: UnitRecord, name: string) =>
    hooksDue(one, confirmed).find(({ hook }) => hook === name);

  test('are all units that take part, in the order of their numbers', () => {
    const joined = dueIn(goal, record, 'db-relation-joined');
    expect(membersDuring(goal, record, 3, joined)).toEqual(['mysql/2', 'mysql/10']);
    expect(membersDuring(goal, record, 3)).toEqual(['mysql/2', 'mysql/10']);
    expect(membersDuring(goal, record, 4)).toEqual([]);
  });

  test('EN-38 in departed, the unit that departs is not a member', () => {
    const departed = dueIn(goal, record, 'db-relation-departed');
    expect(departed?.remoteUnit).toBe('mysql/1');
    expect(membersDuring(goal, record, 3, departed)).not.toContain('mysql/1');
  });

  test('EN-38 as a relation ends, they are those that have not departed; in broken, there is none', () => {
    let confirmed = record;
    const members: string[][] = [];
    const ending = leaving(goal);
    for (const due of hooksDue(ending, record)) {
      members.push(membersDuring(ending, confirmed, 3, due));
      confirmed = confirmHook(confirmed, due);
    }
    expect(members).toEqual([['mysql/2'], [], [], []]);
  });
});

test('EN-32 the same goal and record give the same hooks, whatever the order of relations and members', () => {
  const [cache, db] = ['cache 2 @30: memcached/0=1@7 memcached/1=1@7', 'db 3 @20: mysql/1=2@12 mysql/0=7@12'];
  const record = started('mysql/0=1');
  expect(linesOf(goalOf('1.1', 2, cache, db), record)).toEqual(linesOf(goalOf('1.1', 2, db, cache), record));
  expect(linesOf(goalOf('1.1', 2, db), record)).toEqual(
    linesOf(goalOf('1.1', 2, 'db 3 @20: mysql/0=7@12 mysql/1=2@12'), record),
  );
});

test('EN-44 a hook without a file is due and marked, and counts as done when it is confirmed', () => {
  const goal = goalOf('1.1', 2, 'db 3 @1: mysql/0=1@1');
  const due = hooksDue(goal, started());
  expect(due.map(({ hook, hasFile }) => [hook, hasFile])).toEqual([
    ['db-relation-joined', false],
    ['db-relation-changed', true],
  ]);
  expect(linesOf(goal, confirmHook(started(), due[0]!))).toEqual(['db-relation-changed mysql/0 v1 (after-joined)']);
});

test('a hook of a unit that leaves with an earlier formula may have a file', () => {
  const goal = { ...leaving(goalOf('1.2', 2)), formula: { version: '1.2', hooks: [] } };
  expect(hooksDue(goal, started())).toMatchObject([{ hook: 'stop', formula: '1.1', hasFile: true }]);
});

test('EN-37 a change that arrives while changed runs is due after it', () => {
  const [due] = hooksDue(goalOf('1.1', 2, 'db 3 @9: mysql/0=7@9'), started('mysql/0=6'));
  const record = confirmHook(started('mysql/0=6'), due!);
  expect(linesOf(goalOf('1.1', 2, 'db 3 @10: mysql/0=8@10'), record)).toEqual([
    'db-relation-changed mysql/0 v8 (changed)',
  ]);
});

test('EN-49 a skipped hook counts as done and leaves a mark until it succeeds', () => {
  const [due] = hooksDue(goalOf('1.1', 3), started());
  const skipped = confirmHook(started(), due!, { isSkipped: true });
  expect(linesOf(goalOf('1.1', 3), skipped)).toEqual([]);
  expect(skipped.skipped).toEqual(['config-changed']);
  const [next] = hooksDue(goalOf('1.1', 4), skipped);
  expect(confirmHook(skipped, next!).skipped).toEqual([]);
});

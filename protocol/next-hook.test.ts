import { describe, expect, test } from 'vitest';
import { confirmHook } from './confirm-hook.ts';
import { type HookGoal, hooksDue } from './hooks.ts';
import { failHook, nextHook, retrySeconds } from './next-hook.ts';
import { newUnitRecord, type UnitRecord, unitRecord } from './unit-record.ts';
import type { UnitRelation } from './unit-state.ts';

const relationOf = (id: number, name: string, version: number, units = ['mysql/0']): UnitRelation => ({
  ...{ id, name, interface: 'mysql', life: 'alive', clock: 9, whole: true },
  members: units.map((unit, at) => ({ unit, version, clock: at })),
});
const goalOf = (changes: Partial<HookGoal> = {}): HookGoal => ({
  ...{ goal: 'alive', settingsVersion: 2, formula: { version: '1.1', hooks: [] }, relations: [] },
  ...changes,
});
const started: UnitRecord = {
  ...newUnitRecord('boot-1'),
  formula: '1.1',
  configured: { settings: 2, formula: '1.1', boot: 'boot-1' },
  started: { boot: 'boot-1' },
};

/** Fails the hook that is next, at its time, `times` times. Returns the record and the seconds between the attempts. */
function failing(goal: HookGoal, record: UnitRecord, times: number, random = () => 1) {
  let now = 0;
  const waits: number[] = [];
  for (let run = 1; run <= times; run++) {
    const next = nextHook(hooksDue(goal, record), record, now);
    if (next?.act !== 'run') throw new Error(`attempt ${run} does not run`);
    record = failHook(record, next.due, { run: `run-${run}`, now, random });
    const after = nextHook(hooksDue(goal, record), record, now);
    if (after?.act === 'wait') {
      waits.push((after.until - now) / 1000);
      now = after.until;
    }
  }
  return { record, waits, now };
}

/** Returns what is next, as `run start`, `wait 5` or `none`. */
function nextOf(
  goal: HookGoal,
  record: UnitRecord,
  now = 0,
  resolution: { run: string; how: 'retry' | 'skip' } | null = null,
) {
  const next = nextHook(hooksDue(goal, record), record, now, resolution === null ? [] : [resolution]);
  if (next === null) return 'none';
  if (next.act === 'wait') return `wait ${(next.until - now) / 1000}`;
  const attempt = next.act === 'run' ? String(next.attempt) : '';
  return [next.act, next.due.hook, next.due.remoteUnit ?? '', attempt].filter((part) => part).join(' ');
}

describe('EN-46 the delays between attempts', () => {
  test('are 5, 10, 20, 40, 80, 160 and then 300 seconds', () => {
    const { waits, record } = failing(goalOf(), newUnitRecord(), 9);
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300]);
    expect(record.failing).toMatchObject({ unit: { failures: 9, run: 'run-9' } });
  });

  test('are multiplied by a random number from 0.5 to 1', () => {
    expect([0, 0.5, 1].map((random) => retrySeconds(2, () => random))).toEqual([5, 7.5, 10]);
    expect(retrySeconds(1_000, () => 0)).toBe(150);
  });

  test('and their count are kept when the agent restarts', () => {
    const { record, now } = failing(goalOf(), newUnitRecord(), 3);
    const stored = unitRecord.parse(JSON.parse(JSON.stringify(record)));
    expect(nextOf(goalOf(), stored, now - 4_000)).toBe('wait 4');
    expect(nextOf(goalOf(), stored, now)).toBe('run install 4');
  });

  test('are at most 300 seconds after the clock of the machine was set back', () => {
    const { record } = failing(goalOf(), newUnitRecord(), 1);
    expect(nextOf(goalOf(), record, -1e12)).toBe('wait 300');
  });
});

describe('EN-47 a failing hook', () => {
  const [cache, db] = [relationOf(2, 'cache', 1, ['memcached/0']), relationOf(3, 'db', 1, ['mysql/0', 'mysql/1'])];

  test('of a relation stops this relation, and no other', () => {
    const goal = goalOf({ relations: [db, cache] });
    let { record } = failing(goal, started, 1);
    expect(Object.keys(record.failing)).toEqual(['2']);
    expect(nextOf(goal, record)).toBe('run db-relation-joined mysql/0 1');
    record = failing(goal, record, 1).record;
    expect(Object.keys(record.failing)).toEqual(['2', '3']);
    expect(nextOf(goal, record)).toBe('wait 5');
    expect(nextOf({ ...goal, settingsVersion: 3 }, record)).toBe('run config-changed 1');
  });

  test('of the unit stops all other hooks of the unit', () => {
    const goal = goalOf({ settingsVersion: 3, relations: [db] });
    expect(nextOf(goal, failing(goal, started, 1).record)).toBe('wait 5');
  });
});

describe('EN-48 a newer cause ends the delay and starts the delays again', () => {
  const goal = goalOf({ relations: [relationOf(3, 'db', 1)] });
  const { record } = failing(goal, started, 5);
  test.each<[string, HookGoal, string]>([
    ['the same cause waits', goal, 'wait 80'],
    [
      'another version of the member',
      goalOf({ relations: [relationOf(3, 'db', 2)] }),
      'run db-relation-joined mysql/0 1',
    ],
    ['other settings of the service', { ...goal, settingsVersion: 3 }, 'run config-changed 1'],
    ['another formula', { ...goal, formula: { version: '1.2', hooks: [] } }, 'run upgrade-formula 1'],
    [
      'the end of the relation',
      goalOf({ relations: [{ ...relationOf(3, 'db', 1), life: 'dying' }] }),
      'run db-relation-broken 1',
    ],
  ])('%s', (_, changed, line) => {
    expect(nextOf(changed, record, failing(goal, started, 4).now)).toBe(line);
  });

  test('after an upgrade, what failed runs with the new formula', () => {
    const upgraded = { ...goal, formula: { version: '1.2', hooks: [] } };
    let after = record;
    for (const hook of ['upgrade-formula', 'config-changed']) {
      const [due] = hooksDue(upgraded, after);
      expect(due?.hook).toBe(hook);
      after = confirmHook(after, due!);
    }
    expect(nextOf(upgraded, after)).toBe('run db-relation-joined mysql/0 1');
  });
});

describe('EN-51 each of the last hooks of a unit', () => {
  test('has three attempts and is then skipped', () => {
    const goal = goalOf({ goal: 'leaving' });
    const { record, now } = failing(goal, started, 3);
    expect(nextOf(goal, record, now)).toBe('skip stop');
    const gone = confirmHook(record, hooksDue(goal, record)[0]!, { isSkipped: true });
    expect(nextOf(goal, gone)).toBe('none');
    expect(gone.skipped).toEqual(['stop']);
  });

  test('does not wait for hooks of other relations, but stop waits for all of them', () => {
    const goal = goalOf({ goal: 'leaving', relations: [relationOf(2, 'cache', 1, []), relationOf(3, 'db', 1, [])] });
    let { record } = failing(goal, started, 1);
    expect(nextOf(goal, record)).toBe('run db-relation-broken 1');
    record = confirmHook(record, hooksDue(goal, record)[1]!);
    expect(hooksDue(goal, record).map(({ hook }) => hook)).toEqual(['cache-relation-broken', 'stop']);
    expect(nextOf(goal, record)).toBe('wait 5');
  });

  test('of a relation that ends has three attempts, too', () => {
    const goal = goalOf({ relations: [{ ...relationOf(3, 'db', 1, []), life: 'dying' }] });
    expect(nextOf(goal, failing(goal, started, 3).record)).toBe('skip db-relation-broken');
  });
});

describe('EN-50 a resolution', () => {
  const goal = goalOf();
  const { record } = failing(goal, newUnitRecord(), 3);
  test.each([
    ['retries the run that it names immediately', { run: 'run-3', how: 'retry' }, 'run install 4'],
    ['skips the run that it names', { run: 'run-3', how: 'skip' }, 'skip install'],
    ['does nothing if another run failed meanwhile', { run: 'run-2', how: 'skip' }, 'wait 20'],
  ] as const)('%s', (_, resolution, line) => {
    expect(nextOf(goal, record, failing(goal, newUnitRecord(), 2).now, resolution)).toBe(line);
  });
});

import { describe, expect, test } from 'vitest';
import { confirmHook } from './confirm-hook.ts';
import { type DueHook, hooksDue } from './hooks.ts';
import { failHook, nextHook } from './next-hook.ts';
import { afterOf, forgetRelations, receiveUnits } from './receive-units.ts';
import { newUnitRecord, type UnitRecord, unitRecord } from './unit-record.ts';
import type { UnitGoal, UnitRelation, UnitState } from './unit-state.ts';

/** How many random histories to test. */
const histories = 100;
const acts = 60;

/** Returns a seeded random number generator, so that a history can be repeated. */
function dice(seed: number): (below: number) => number {
  let state = seed * 7_919 + 1;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

type WorldMember = { unit: string; version: number; clock: number; isIn: boolean };
type WorldRelation = Pick<UnitRelation, 'id' | 'name' | 'life' | 'clock'> & { members: WorldMember[] };

/** A portal, where everything may change at any time, and the unit wordpress/1 on its machine. */
class History {
  record: UnitRecord = newUnitRecord('boot-0');
  /** The hooks that count as done, in order. */
  readonly done: DueHook[] = [];
  private isQuiet = false;
  runs = 0;
  isLeaving = false;
  relations: WorldRelation[] = [];
  private held: UnitState | null = null;
  /** Relations whose `broken` hook the portal has seen. */
  private readonly ended = new Set<number>();
  private settings = 1;
  private formula = 1;
  private boots = 0;
  private units = 0;
  private now = 0;
  private readonly random: (below: number) => number;

  constructor(random: (below: number) => number) {
    this.random = random;
  }

  private get goal(): UnitGoal | undefined {
    return this.held?.units[0];
  }

  act(): void {
    const relation = this.relations[this.random(this.relations.length)];
    const members = relation?.members.filter(({ isIn }) => isIn) ?? [];
    const member = members[this.random(members.length)];
    const what = this.random(20);
    if (what === 0) this.settings += 1;
    else if (what === 1) this.formula += 1;
    else if (what === 2) this.record = { ...this.record, boot: `boot-${++this.boots}` };
    else if (what < 5) this.relate();
    else if (what === 5 && relation !== undefined) relation.life = 'dying';
    else if (relation === undefined || relation.life === 'dying') this.look();
    else if (what < 9) this.join(relation);
    else if (what < 11 && member !== undefined) Object.assign(member, { isIn: false, clock: ++relation.clock });
    else if (member !== undefined) Object.assign(member, { version: member.version + 1, clock: ++relation.clock });
  }

  private relate(): void {
    const id = this.relations.length + 1;
    this.relations.push({
      id,
      name: `db-${'abcdefghijklmnopqrstuvwxyz'[id % 26]}`,
      life: 'alive',
      clock: 0,
      members: [],
    });
  }

  private join(relation: WorldRelation): void {
    relation.clock += 1;
    relation.members.push({ unit: `mysql/${this.units++}`, version: 1, clock: relation.clock, isIn: true });
  }

  /** Fetches the unit state: changes since the last time or, if the agent lost what it had, the whole. */
  look(): void {
    if (this.random(10) === 0) this.held = null;
    for (const [id, { broken }] of Object.entries(this.record.relations)) if (broken) this.ended.add(Number(id));
    const after = new Map(
      (this.held === null ? '' : afterOf(this.held)).split(',').map((one) => one.split(':')) as [string, string][],
    );
    const relations = this.relations
      .filter(({ id }) => !this.ended.has(id))
      .map((one): UnitRelation => {
        const from = after.get(String(one.id));
        const members = one.members
          .filter(({ isIn, clock }) => (from === undefined ? isIn : clock > Number(from)))
          .map(({ unit, version, clock, isIn }) =>
            isIn ? { unit, version, clock } : { unit, left: true as const, clock },
          );
        return { ...one, interface: 'mysql', whole: from === undefined, members };
      });
    const unit: UnitGoal = {
      ...{
        unit: 'wordpress/1',
        model: 'prod',
        turn: 1,
        goal: this.isLeaving ? 'leaving' : 'alive',
        serviceExposed: false,
      },
      ...{ settingsVersion: this.settings, timeouts: { default: 1 }, masked: [], resolution: null },
      addresses: { private: null, public: null },
      formula: {
        ...{ id: 'A.wordpress', name: 'wordpress', version: `1.${this.formula}`, hooks: [] },
        package: { sha256: '0', size: 0, url: '' },
      },
      // A unit takes part in its relations from its first start.
      relations: this.record.started === null ? [] : relations,
    };
    this.held = receiveUnits(this.held, { protocol: 1, vmId: 'vm', epoch: 'e', units: [unit] }, () => this.record);
    this.record = unitRecord.parse(forgetRelations(unit, this.record));
  }

  /** Runs the next hook, during which random changes can occur. Returns whether a hook is due. */
  step(failuresOf10: number): boolean {
    if (this.goal === undefined) return true;
    const next = nextHook(hooksDue(this.goal, this.record), this.record, this.now);
    if (next === null) return false;
    if (next.act === 'wait') {
      this.now = next.until;
      return true;
    }
    if (next.act === 'skip') {
      this.done.push(next.due);
      this.record = confirmHook(this.record, next.due, { isSkipped: true });
      return true;
    }
    this.run(next.due, failuresOf10);
    return true;
  }

  private run(due: DueHook, failuresOf10: number): void {
    this.runs += 1;
    const { boot } = this.record;
    while (!this.isQuiet && this.random(3) === 0) this.act();
    const ended = this.record.boot === boot && this.random(10) >= failuresOf10;
    if (ended) {
      this.done.push(due);
      this.record = confirmHook(this.record, due);
    } else this.record = failHook(this.record, due, { run: String(this.runs), now: this.now });
  }

  /** From now on, nothing else changes. Returns the number of runs until no hook is due. */
  settle(failuresOf10 = 0): number {
    const before = this.runs;
    this.isQuiet = true;
    this.look();
    for (let steps = 0; steps < 5_000; steps++) {
      if (!this.step(failuresOf10)) {
        this.look();
        if (!this.step(failuresOf10)) return this.runs - before;
      }
    }
    throw new Error('hooks are still due after 5,000 steps');
  }
}

function historyOf(seed: number): History {
  const random = dice(seed);
  const history = new History(random);
  for (let count = 0; count < acts; count++) {
    const what = random(4);
    if (what === 0) history.act();
    else if (what === 1) history.look();
    else history.step(3);
  }
  return history;
}

const seeds = Array.from({ length: histories }, (_, seed) => seed);

/** Returns the kinds of hooks that are done for one relation and one member. */
const kindsOf = ({ done }: History, id: number, unit?: string): string =>
  done
    .filter(({ relation, remoteUnit }) => relation?.id === id && remoteUnit === unit)
    .map(({ kind }) => kind)
    .join(' ');

describe('in random histories of looks, changes, failures and reboots', () => {
  test('EN-36 nothing is lost: in the end, every member is confirmed at its latest version', () => {
    for (const seed of seeds) {
      const history = historyOf(seed);
      history.settle();
      const { relations, record } = history;
      const alive = relations.filter(({ life }) => life === 'alive');
      const present = (one: WorldRelation) => one.members.filter(({ isIn }) => isIn);
      const expected = alive.map((one) => Object.fromEntries(present(one).map(({ unit, version }) => [unit, version])));
      expect(
        alive.map(({ id }) => record.relations[id]?.members ?? {}),
        `seed ${seed}`,
      ).toEqual(expected);
    }
  });

  test('EN-36 nothing is due twice, and hooks of a member run in their order', () => {
    for (const seed of seeds) {
      const history = historyOf(seed);
      history.settle();
      const once = history.done
        .filter(({ kind }) => kind !== 'start' && kind !== 'config-changed')
        .map(({ hook, remoteUnit, version, formula }) => JSON.stringify([hook, remoteUnit, version ?? formula]));
      expect(new Set(once).size, `seed ${seed}`).toBe(once.length);
      for (const { id, life, members } of history.relations) {
        for (const { unit, isIn } of members) {
          const stays = isIn && life === 'alive';
          expect(kindsOf(history, id, unit), `seed ${seed}`).toMatch(
            stays ? /^joined changed( changed)*$/ : /^(joined (changed )*departed)?$/,
          );
        }
      }
    }
  });

  test('EN-39 broken is the last hook of a relation that ends, and runs once', () => {
    for (const seed of seeds) {
      const history = historyOf(seed);
      history.settle();
      for (const { id } of history.relations.filter(({ life }) => life === 'dying')) {
        const kinds = history.done.filter(({ relation }) => relation?.id === id).map(({ kind }) => kind);
        expect(kinds.indexOf('broken'), `seed ${seed}`).toBe(kinds.length - 1);
        expect(kinds).not.toHaveLength(0);
      }
    }
  });

  test('EN-33 no hook of a relation runs before the first start', () => {
    for (const seed of seeds) {
      const { done } = historyOf(seed);
      const start = done.findIndex(({ kind }) => kind === 'start');
      const relation = done.findIndex((due) => due.relation !== undefined);
      if (relation >= 0) expect(start, `seed ${seed}`).toBeLessThan(relation);
      expect(done.map(({ kind }) => kind).slice(0, 1), `seed ${seed}`).toEqual(['install'].slice(0, done.length));
    }
  });

  test('EN-32 a look that brings nothing new changes nothing that is due', () => {
    for (const seed of seeds) {
      const history = historyOf(seed);
      history.settle();
      expect([history.settle(), history.settle()], `seed ${seed}`).toEqual([0, 0]);
    }
  });

  test('EN-51 a unit that leaves is gone after at most three attempts of each hook, although all of them fail', () => {
    for (const seed of seeds) {
      const history = historyOf(seed);
      history.isLeaving = true;
      const { relations, started, formula } = history.record;
      const members = Object.values(relations).flatMap((one) => Object.keys(one.members)).length;
      const lastHooks = members + (started === null ? 0 : history.relations.length) + (formula === null ? 0 : 1);
      const runs = history.settle(10);
      expect(runs, `seed ${seed}`).toBeLessThanOrEqual(3 * lastHooks);
      expect(history.record).toMatchObject({ stopped: formula !== null });
    }
  });
});

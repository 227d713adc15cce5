import type { SQL } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { slotOf } from '#protocol/confirm-hook.ts';
import { type DueHook, hooksDue } from '#protocol/hooks.ts';
import type { UnitRecord } from '#protocol/unit-record.ts';
import type { UnitGoal } from '#protocol/unit-state.ts';
import type { FailingHook, FailingHooks } from '#server/domain/service-rules/stored.ts';
import { relationsOf } from '../relations/index.ts';
import { goalOf } from '../unit-state/goal-of.ts';
import { readUnits, type UnitFacts } from '../unit-state/read-units.ts';
import { readRecords } from './read-records.ts';

/** A unit with its goal and the hooks that are due. */
export interface UnitWork {
  unit: UnitFacts;
  goal: UnitGoal;
  /** What the unit has confirmed. */
  record: UnitRecord;
  due: DueHook[];
  /** The hooks that failed last and are still due. A hook is no longer due if, for example, its member left. */
  failing: FailingHooks;
}

/**
 * Reads units and the hooks that are due on them, in the order in which their agents run them (EN-32). Runs the same
 * number of statements for any number of units.
 */
export async function readUnitWork(tx: Transaction, where: SQL): Promise<UnitWork[]> {
  const units = await readUnits(tx, where);
  if (units.length === 0) return [];
  const relations = await relationsOf(
    tx,
    units.map(({ id }) => id),
    new Map(),
  );
  const records = await readRecords(tx, units);
  return units.map((unit) => {
    const goal = goalOf(unit, relations.get(unit.id) ?? []);
    const record = records.get(unit.id);
    if (record === undefined) throw new Error(`the record of ${unit.name} was not read`);
    const due = hooksDue(goal, record);
    return { unit, goal, record, due, failing: stillDue(unit.failing, due) };
  });
}

function stillDue(failing: FailingHooks, due: readonly DueHook[]): FailingHooks {
  const isDue = (slot: string, { hook, remoteUnit }: FailingHook): boolean =>
    due.some(
      (one) => slotOf(one) === slot && one.hook === hook && (remoteUnit === undefined || one.remoteUnit === remoteUnit),
    );
  return Object.fromEntries(Object.entries(failing).filter(([slot, failure]) => isDue(slot, failure)));
}

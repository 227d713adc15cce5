import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ConfirmedHook,
  causeOfRun,
  confirmHook,
  type DueHook,
  hooksDue,
  maxSkippedHooks,
  nextHook,
  slotOf,
  type UnitGoal,
  type UnitRecord,
} from '#protocol/index.ts';
import type { LocalUnit } from '../../unit/local-unit.ts';

/** What a unit could do now. */
export type UnitStep =
  | { act: 'run'; due: DueHook; attempt: number }
  /** The formula must be unpacked first. */
  | { act: 'fetch' }
  /** A hook failed and is run again at this time, in milliseconds since 1970. */
  | { act: 'wait'; until: number }
  /** All hooks of a leaving unit are done. */
  | { act: 'remove' }
  | { act: 'rest' };

/** A hook that counts as done without a run. */
interface SkipStep {
  act: 'skip';
  due: DueHook;
  note: ConfirmedHook;
  /** Whether it failed before, so that the unit keeps a mark until the hook succeeds. */
  isSkipped: boolean;
}

/**
 * Returns what a unit could do now. Hooks without a file, and hooks that are skipped, count as done; they are noted on
 * disk and for the portal first.
 */
export function stepOf(unit: LocalUnit, goal: UnitGoal, now: number): UnitStep {
  const notes: ConfirmedHook[] = [];
  let { record } = unit;
  let step = firstStep(unit, goal, record, now);
  while (step.act === 'skip') {
    record = confirmHook(record, step.due, { isSkipped: step.isSkipped });
    notes.push(step.note);
    if (notes.length >= maxSkippedHooks) break;
    step = firstStep(unit, goal, record, now);
  }
  if (notes.length > 0) unit.skip(record, notes);
  return step.act === 'skip' ? { act: 'rest' } : step;
}

function firstStep(unit: LocalUnit, goal: UnitGoal, record: UnitRecord, now: number): UnitStep | SkipStep {
  const next = nextHook(hooksDue(goal, record), record, now, goal.resolution);
  if (next === null) return { act: goal.goal === 'leaving' ? 'remove' : 'rest' };
  if (next.act === 'wait') return next;
  const { due } = next;
  const note = { ...causeOfRun(due), formula: due.formula };
  if (next.act === 'skip') {
    return { act: 'skip', due, note: { ...note, run: record.failing[slotOf(due)]?.run }, isSkipped: true };
  }
  const isCurrent = due.formula === goal.formula.version;
  const root = unit.formulaRoot(due.formula, isCurrent ? goal.formula.package.sha256 : undefined);
  // The unit state does not list the hooks of an earlier version of the formula.
  const isMissing = !due.hasFile || (root !== null && !isCurrent && !existsSync(join(root, 'hooks', due.hook)));
  // A removal does not wait for a formula that is not on the machine.
  if (isMissing || (root === null && goal.goal === 'leaving')) return { act: 'skip', due, note, isSkipped: false };
  return root === null ? { act: 'fetch' } : next;
}

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
  // The portal withholds protected settings that hooks read.
  if (goal.needsRelease === true) return { act: 'rest' };
  const notes: ConfirmedHook[] = [];
  let { record } = unit;
  for (;;) {
    const due = hooksDue(goal, record);
    const { failing } = record;
    // All of them together, because a relation may have a thousand members.
    const first = due.findIndex((one) => one.hasFile || failing[slotOf(one)] !== undefined);
    const absent = due.slice(0, first < 0 ? due.length : first).slice(0, maxSkippedHooks - notes.length);
    for (const one of absent) record = confirmHook(record, one);
    notes.push(...absent.map(noteOf));
    if (absent.length > 0 && notes.length < maxSkippedHooks) continue;
    const step = notes.length < maxSkippedHooks ? firstStep(unit, goal, record, due, now) : { act: 'rest' as const };
    if (step.act !== 'skip') {
      if (notes.length > 0) unit.skip(record, notes);
      return step;
    }
    record = confirmHook(record, step.due, { isSkipped: step.isSkipped });
    notes.push(step.note);
  }
}

const noteOf = (due: DueHook): ConfirmedHook => ({ ...causeOfRun(due), formula: due.formula });

const resolutionsOf = ({ resolution, resolutions = [] }: UnitGoal) =>
  resolution === null ? resolutions : [...resolutions, resolution];

function firstStep(
  unit: LocalUnit,
  goal: UnitGoal,
  record: UnitRecord,
  all: readonly DueHook[],
  now: number,
): UnitStep | SkipStep {
  const next = nextHook(all, record, now, resolutionsOf(goal));
  if (next === null) return { act: goal.goal === 'leaving' ? 'remove' : 'rest' };
  if (next.act === 'wait') return next;
  const { due } = next;
  const note = noteOf(due);
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

import { type DueLine, dueLines } from '#app/(portal)/models/[model]/units/due-lines.ts';
import type { ShownFailure, ShownRun } from '#app/(portal)/models/[model]/units/unit-data.ts';
import { whyOf } from '#app/(portal)/models/[model]/units/why-unit.ts';
import type { ShownVmUnit } from '../units/hook-entries.ts';

/** What a reader can do about a unit that is not done, and the run whose output shows why; null if there is none. */
export type NextActs =
  | { kind: 'failing'; run: string; failure: ShownFailure; lines: readonly DueLine[]; isDue: boolean }
  | { kind: 'release' | 'relation' | 'other'; run: string | null };

/** Returns the next acts for a unit, by the reason that its page shows, too. */
export function nextActs(unit: ShownVmUnit): NextActs {
  const running =
    unit.running === null ? undefined : ({ ...unit.running, id: unit.running.run } as unknown as ShownRun);
  const why = whyOf({ unit, machine: undefined, due: unit.due, running });
  if (why?.kind === 'failing') {
    const { failure } = why;
    const lines = dueLines(unit.due, unit.failing, running);
    const isDue = lines.some(({ state }) => state.kind === 'retry' && state.failure === failure);
    return { kind: 'failing', run: failure.run, failure, lines, isDue };
  }
  if (why?.kind === 'release' || why?.kind === 'relation') return { kind: why.kind, run: null };
  return { kind: 'other', run: why?.kind === 'running' ? (unit.running?.run ?? null) : null };
}

import { slotOf } from './confirm-hook.ts';
import type { DueHook } from './hooks.ts';
import type { HookFailure, UnitRecord } from './unit-record.ts';
import type { HookResolution } from './unit-state.ts';

const firstDelaySeconds = 5;
const maxDelaySeconds = 300;
/** How many attempts each of the last hooks of a unit or relation has, because a removal never waits for a hook. */
const lastAttempts = 3;

/** What to do about a unit's hooks now; null if no hook is due. */
export type NextHook =
  | { act: 'run'; due: DueHook; attempt: number }
  | { act: 'skip'; due: DueHook }
  | { act: 'wait'; until: number }
  | null;

/** Returns the seconds until the next attempt: 5, 10, 20 … 300, times a random 0.5 to 1. */
export function retrySeconds(failures: number, random: () => number = Math.random): number {
  const limit = Math.min(firstDelaySeconds * 2 ** (failures - 1), maxDelaySeconds);
  return limit * (0.5 + random() / 2);
}

/**
 * Returns the record after a hook that did not succeed. A failure for a newer cause starts the delays again (EN-48).
 */
export function failHook(
  record: UnitRecord,
  due: DueHook,
  { run, now, random }: { run: string; now: number; random?: () => number },
): UnitRecord {
  const failures = (failureOf(record, due)?.failures ?? 0) + 1;
  const notBefore = now + retrySeconds(failures, random) * 1000;
  const failure: HookFailure = { run, cause: causeOf(record, due), failures, notBefore };
  return { ...record, failing: { ...record.failing, [slotOf(due)]: failure } };
}

/**
 * Chooses what to do next. While a hook of the unit is due, no hook of a relation runs; a hook that fails stops the rest
 * of its relation, and nothing else (EN-47).
 */
export function nextHook(
  due: readonly DueHook[],
  record: UnitRecord,
  now: number,
  resolutions: readonly HookResolution[] = [],
): NextHook {
  const [first] = due;
  if (first === undefined) return null;
  const candidates = first.relation === undefined ? [first] : firstOfEach(due);
  let until = Number.POSITIVE_INFINITY;
  for (const one of candidates) {
    const next = stepFor(one, failureOf(record, one), now, resolutions);
    if (next.act !== 'wait') return next;
    until = Math.min(until, next.until);
  }
  return { act: 'wait', until };
}

type HookStep = Exclude<NextHook, null>;

function stepFor(
  due: DueHook,
  failure: HookFailure | undefined,
  now: number,
  resolutions: readonly HookResolution[],
): HookStep {
  if (failure === undefined) return { act: 'run', due, attempt: 1 };
  const isLast = due.because === 'unit-leaving' || due.because === 'relation-going';
  const resolved = resolutions.find(({ run }) => run === failure.run)?.how ?? null;
  if (resolved === 'skip' || (isLast && failure.failures >= lastAttempts)) return { act: 'skip', due };
  // The clock of the machine may have been set back since the failure.
  const until = Math.min(failure.notBefore, now + maxDelaySeconds * 1000);
  if (resolved === null && failure.notBefore > now) return { act: 'wait', until };
  return { act: 'run', due, attempt: failure.failures + 1 };
}

/** Returns the first hook of each relation; `stop` waits until all of them are done. */
function firstOfEach(due: readonly DueHook[]): DueHook[] {
  const slots = new Map<string, DueHook>();
  for (const one of due) {
    if (one.relation !== undefined && !slots.has(slotOf(one))) slots.set(slotOf(one), one);
  }
  return [...slots.values()];
}

/** Returns the failure of exactly this hook; undefined if something else failed, or for an earlier cause. */
function failureOf(record: UnitRecord, due: DueHook): HookFailure | undefined {
  const failure = record.failing[slotOf(due)];
  return failure?.cause === causeOf(record, due) ? failure : undefined;
}

function causeOf({ boot }: UnitRecord, { hook, remoteUnit, version, formula, settings }: DueHook): string {
  return JSON.stringify([hook, remoteUnit, version, formula, settings, boot]);
}

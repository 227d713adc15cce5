import type { ShownRun } from './unit-data.ts';

/** A row of the list of runs: a run, or earlier attempts for the same cause, which can be unfolded. */
export type RunListRow = { kind: 'run'; run: ShownRun } | { kind: 'attempts'; runs: readonly ShownRun[] };

/** Fewer earlier attempts are shown one by one. */
const fewest = 2;

/** Puts earlier attempts of the same hook into one row each, below the last attempt. Runs are sorted newest first. */
export function runRows(runs: readonly ShownRun[]): RunListRow[] {
  const rows: RunListRow[] = [];
  for (let at = 0; at < runs.length; ) {
    const run = runs[at];
    if (run === undefined) break;
    const end = runs.findIndex((other, index) => index > at && !isBefore(other, runs[index - 1] ?? run));
    const attempts = runs.slice(at + 1, end < 0 ? runs.length : end);
    rows.push({ kind: 'run', run });
    if (attempts.length >= fewest) rows.push({ kind: 'attempts', runs: attempts });
    else rows.push(...attempts.map((each) => ({ kind: 'run' as const, run: each })));
    at += 1 + attempts.length;
  }
  return rows;
}

/** Whether a run is the attempt before another one. */
const isBefore = (run: ShownRun, next: ShownRun): boolean =>
  run.hook === next.hook &&
  run.relation === next.relation &&
  run.remoteUnit === next.remoteUnit &&
  run.attempt === next.attempt - 1;

import type { ShownRecentRun } from '../service-data.ts';

/** Number of runs that the card reads. Attempts of the same hook are shown as one run. */
export const recentRuns = 30;
/** Number of runs that the card shows. */
const maxShown = 10;

/** Returns the latest runs, newest first, without attempts that a later attempt of the same hook followed. */
export function latestRuns(runs: readonly ShownRecentRun[]): ShownRecentRun[] {
  const followed = new Map<string, number>();
  const shown = runs.filter(({ unit, hook, remoteUnit, attempt }) => {
    const key = `${unit} ${hook} ${remoteUnit}`;
    const isFollowed = followed.get(key) === attempt + 1;
    followed.set(key, attempt);
    return !isFollowed;
  });
  return shown.slice(0, maxShown);
}

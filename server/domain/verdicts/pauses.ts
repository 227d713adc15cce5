/** The start and the end of a past period in which deadlines were paused, in ISO 8601. */
type PastPause = readonly [from: string, to: string];

/** The periods in which the deadlines of a VM are paused. */
export interface Pauses {
  /** When the current pause began; null if deadlines are not paused. */
  since: Date | null;
  /** Past periods, oldest first. They do not overlap each other or the current period. */
  past: readonly PastPause[];
}

export const noPauses: Pauses = { since: null, past: [] };

/** What pauses the deadlines of a VM: holds, and executions that hold the VM's lane. Null means none. */
export interface PauseFacts {
  heldAt: Date | null;
  pastHolds: readonly PastPause[] | null;
  laneTakenAt: Date | null;
  laneTimes: readonly PastPause[] | null;
}

/** Joins the holds of a VM and the periods in which executions held its lane, so that no second is counted twice. */
export function pausesOf({ heldAt, pastHolds, laneTakenAt, laneTimes }: PauseFacts): Pauses {
  const ended = [...(pastHolds ?? []), ...(laneTimes ?? [])];
  if (ended.length === 0 && heldAt === null && laneTakenAt === null) return noPauses;
  const past: [from: number, to: number][] = [];
  const times = ended.map(([from, to]) => [Date.parse(from), Date.parse(to)] as const);
  for (const [from, to] of times.sort(([a], [b]) => a - b)) {
    const last = past.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else past.push([from, to]);
  }
  let since = Math.min(
    heldAt?.getTime() ?? Number.POSITIVE_INFINITY,
    laneTakenAt?.getTime() ?? Number.POSITIVE_INFINITY,
  );
  // A past period that reaches into the current one is part of it.
  for (let last = past.at(-1); last !== undefined && last[1] >= since; last = past.at(-1)) {
    since = Math.min(since, last[0]);
    past.pop();
  }
  const iso = (time: number) => new Date(time).toISOString();
  return {
    since: Number.isFinite(since) ? new Date(since) : null,
    past: past.map(([from, to]) => [iso(from), iso(to)]),
  };
}

/** Returns the time that is `seconds` after `from`, not counting past pauses. */
export function withoutPauses(from: Date, seconds: number, { past }: Pick<Pauses, 'past'>): Date {
  let end = from.getTime() + seconds * 1000;
  for (const [begun, ended] of past) {
    const [start, stop] = [Math.max(Date.parse(begun), from.getTime()), Date.parse(ended)];
    if (start <= end && stop > start) end += stop - start;
  }
  return new Date(end);
}

/** Whether a deadline is paused: the current pause began before the deadline passed. */
export const standsStill = (deadline: Date, { since }: Pick<Pauses, 'since'>): boolean =>
  since !== null && deadline >= since;

/** How old a file was when the agent read it, and how long ago the agent read it. */
export interface FileReading {
  ageSeconds: number;
  readSecondsAgo: number;
}

/** When the agent read the file, by the portal's clock. */
export const readAt = (entry: { readSecondsAgo: number }, receivedAt: Date): Date =>
  new Date(receivedAt.getTime() - entry.readSecondsAgo * 1000);

interface Reading {
  readAt: Date;
  ageSeconds: number;
}

/**
 * Whether `next` was read earlier than `before`, or its file was written earlier, so that it becomes stale sooner.
 * Ignores differences of up to a second, because times are accurate only to a second.
 */
export function wentBack(before: Reading | null, next: Reading | null): boolean {
  if (before === null || next === null) return false;
  const writtenAt = ({ readAt, ageSeconds }: Reading): number => readAt.getTime() - ageSeconds * 1000;
  const tolerance = 1000;
  return before.readAt.getTime() - next.readAt.getTime() > tolerance || writtenAt(before) - writtenAt(next) > tolerance;
}

/** Column names of a reading: the status in the file, when the file was read, and the file's age when it was read. */
export interface ReadingColumns {
  word: string;
  readAt: string;
  age: string;
}

/** SQL for the seconds between reading the file and `at`. */
export const elapsed = ({ readAt }: ReadingColumns): string => `greatest(0, date_part('epoch', at - ${readAt}))`;

const secondsAfter = (later: string, earlier: string): string => `date_part('epoch', ${later} - ${earlier})`;

/** `wentBack` as SQL. */
export const wentBackSql = (was: ReadingColumns, is: ReadingColumns): string => `coalesce(
    ${secondsAfter(was.readAt, is.readAt)} > 1
    or ${secondsAfter(was.readAt, is.readAt)} - ${was.age} + ${is.age} > 1, false)`;

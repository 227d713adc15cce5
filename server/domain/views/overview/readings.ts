import type { Services } from '#server/domain/context.ts';
import { slot } from '#server/platform/process-memory.ts';
import { SharedReadings } from '#server/platform/shared-readings.ts';

/**
 * `isPage`: whether a newly opened page is waiting, which gives the query priority; true by default. Refreshes of open
 * pages can wait.
 */
export interface MapReader extends Pick<Services, 'db' | 'memory'> {
  isPage?: boolean;
}

const readings = slot(() => new SharedReadings());

/** Runs one reading for all concurrent callers. */
export function shareReading<Result>(
  { memory, isPage = true }: MapReader,
  key: string,
  read: () => Promise<Result>,
): Promise<Result> {
  return memory.of(readings).share(key, read, { isUrgent: isPage });
}

/** Reads slowly changing data, or returns the result that an earlier call cached. */
export function keepReading<Result>({ memory }: MapReader, key: string, read: () => Promise<Result>): Promise<Result> {
  return memory.of(readings).keep(key, read);
}

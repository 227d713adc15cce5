import type { Services } from '#server/domain/context.ts';
import { slot } from '#server/platform/process-memory.ts';
import { SharedReadings } from '#server/platform/shared-readings.ts';

/** The reader. A page waits for the query only; an open screen that refreshes can wait for its turn. */
export interface MapReader extends Pick<Services, 'db' | 'memory'> {
  isPage?: boolean;
}

const readings = slot(() => new SharedReadings());

/** Reads once for concurrent callers. */
export function shareReading<Result>(
  { memory, isPage = true }: MapReader,
  key: string,
  read: () => Promise<Result>,
): Promise<Result> {
  return memory.of(readings).share(key, read, { isUrgent: isPage });
}

/** Reads slowly changing data: the result is cached for a while. */
export function keepReading<Result>({ memory }: MapReader, key: string, read: () => Promise<Result>): Promise<Result> {
  return memory.of(readings).keep(key, read);
}

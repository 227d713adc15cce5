import { type FleetProblems, readProblems } from '#server/domain/attention/index.ts';
import { type MapReader, shareReading } from '../overview/readings.ts';

/** Reads the problems of the fleet once for all concurrent callers. */
export const readSharedProblems = (reader: MapReader): Promise<FleetProblems> =>
  shareReading(reader, 'problems', () => readProblems(reader.db));

import type { DirectoryEntry } from './directory.ts';

/** An entry with its decoded name and the position of its data. */
export interface PlacedEntry {
  entry: DirectoryEntry;
  name: string | null;
  /** Null if the data cannot be found. */
  dataStart: number | null;
}

import type { DirectoryEntry } from './directory.ts';

/** An entry with the facts of its name and local header. */
export interface PlacedEntry {
  entry: DirectoryEntry;
  name: string | null;
  /** Null if its data cannot be found. */
  dataStart: number | null;
}

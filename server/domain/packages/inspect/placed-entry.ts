import type { DirectoryEntry } from './directory.ts';

/** An entry with what its name and local header tell. */
export interface PlacedEntry {
  entry: DirectoryEntry;
  name: string | null;
  /** Null where its data cannot be found. */
  dataStart: number | null;
}

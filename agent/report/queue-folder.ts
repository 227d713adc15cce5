import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { discard } from '../folder/write-file.ts';

/** Returns the path of a numbered entry in a queue on disk. */
export function queueFile(folder: string, number: number): string {
  return join(folder, `${String(number).padStart(12, '0')}.json`);
}

/**
 * Opens a queue on disk and returns the numbers of its entries, lowest first. Deletes entries that an agent was writing
 * when it was killed.
 */
export function openQueueFolder(folder: string): number[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const names = readdirSync(folder);
  for (const name of names) if (/^\d+\.json\.next$/.test(name)) discard(join(folder, name));
  return names
    .map((name) => /^(\d+)\.json$/.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { crashPoint } from './crash-point.ts';

/** Writes a small file so that a reader, or a start after a crash, sees the old text or the new one, never half. */
export function writeWhole(path: string, text: string, mode = 0o600): void {
  crashPoint(`write ${path}`);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.next`;
  const file = openSync(next, 'w', mode);
  try {
    writeSync(file, text);
    crashPoint(`sync ${path}`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  replace(next, path);
}

/** Puts a file or folder in its place, for good: the name too is on the disk afterwards. */
export function replace(from: string, to: string): void {
  crashPoint(`rename ${to}`);
  renameSync(from, to);
  syncFolder(dirname(to));
}

/** Deletes a file or a folder with all that is in it; what is not there is fine. */
export function discard(path: string): void {
  crashPoint(`delete ${path}`);
  rmSync(path, { recursive: true, force: true });
}

function syncFolder(folder: string): void {
  const file = openSync(folder, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

export function writeJson(path: string, value: unknown, mode = 0o600): void {
  writeWhole(path, `${JSON.stringify(value, null, 2)}\n`, mode);
}

/** The text of a file, or null where there is none. */
export function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** A JSON file of the agent's own, or null where it is absent or no JSON. */
export function readJson(path: string): unknown {
  const text = readText(path);
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

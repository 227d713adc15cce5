import {
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { crashPoint } from './crash-point.ts';
import { SharedFolder } from './shared-folder.ts';

/**
 * Writes a small file atomically: a reader, or the agent's next start after a crash, sees either the old text or the
 * new text.
 */
export function writeAtomically(path: string, text: string, mode = 0o600): void {
  crashPoint(`write ${path}`);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.next`;
  const file = openSync(next, 'w', mode);
  try {
    writeAll(file, Buffer.from(text));
    crashPoint(`sync ${path}`);
    fsyncSync(file);
  } catch (error) {
    // On a full disk, a temporary file would take space from the next write.
    rmSync(next, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  replace(next, path);
}

/**
 * Writes all bytes or throws. A disk that becomes full accepts some of the bytes, and reports the error only on the
 * next write.
 */
export function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

/** Whether a write failed because the disk or the user's quota is full. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Renames a file or folder and syncs the parent folder, so that the new name survives a crash. */
export function replace(from: string, to: string): void {
  crashPoint(`rename ${to}`);
  renameSync(from, to);
  sync(dirname(to));
}

/**
 * Deletes a file, or a folder with its contents; does nothing if there is none. `path` must be in a folder that only
 * the agent can change. The deleted contents may change during the call; links in them are not followed.
 */
export function discard(path: string): void {
  crashPoint(`delete ${path}`);
  const folder = SharedFolder.openOwn(dirname(path));
  try {
    folder?.remove(basename(path));
  } finally {
    folder?.close();
  }
}

/** Syncs a file, or the entries of a folder, to the disk. */
export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

export function writeJson(path: string, value: unknown, mode = 0o600): void {
  writeAtomically(path, `${JSON.stringify(value, null, 2)}\n`, mode);
}

/** Returns the text of a file, or null if there is none. */
export function readText(path: string): string | null {
  let file: number;
  try {
    // A handler may have replaced the file with a pipe. Opening a pipe must not wait for a writer.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** Reads one of the agent's own JSON files. Returns null if it is missing or not valid JSON. */
export function readJson(path: string): unknown {
  const text = readText(path);
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

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

/** Writes a small file so that a reader, or a start after a crash, sees the old text or the new one, never half. */
export function writeWhole(path: string, text: string, mode = 0o600): void {
  crashPoint(`write ${path}`);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.next`;
  const file = openSync(next, 'w', mode);
  try {
    writeAll(file, Buffer.from(text));
    crashPoint(`sync ${path}`);
    fsyncSync(file);
  } catch (error) {
    // On a full disk what is left of it would be in the way of what is written next.
    rmSync(next, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  replace(next, path);
}

/** A disk that becomes full takes a part, and says so only to who writes the rest: half a file never gets its name. */
export function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

/** Whether something could not be written because the disk, or what of it this user may have, is used up. */
export function isOutOfRoom(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Puts a file or folder in its place, for good: the name too is on the disk afterwards. */
export function replace(from: string, to: string): void {
  crashPoint(`rename ${to}`);
  renameSync(from, to);
  syncFolder(dirname(to));
}

/**
 * Deletes a file, or a folder with everything in it; does nothing if there is none. Only the agent may change the folder
 * that `path` is in; what is below `path` may change meanwhile, and no link in it is followed.
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
  let file: number;
  try {
    // A handler's folder may hold a pipe in its place, for whose writer nobody is to wait.
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

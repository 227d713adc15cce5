import { closeSync, fstatSync, fsyncSync, readSync, type Stats } from 'node:fs';
import { basename, dirname, relative, sep } from 'node:path';
import { crashPoint } from './crash-point.ts';
import { NotPlain, SharedFolder } from './shared-folder.ts';
import { writeAll } from './write-file.ts';

/**
 * Calls `use` with the folder of `path` and the file name. `root` is a handler's folder, below which `path` is resolved
 * without following links. Returns null if a folder on the path does not exist.
 */
export function inFolderOf<T>(root: string, path: string, use: (folder: SharedFolder, name: string) => T): T | null {
  const names = relative(root, dirname(path)).split(sep).filter(Boolean);
  let folder = SharedFolder.open(root);
  try {
    for (const name of names) {
      const next: SharedFolder | null = folder?.folder(name) ?? null;
      folder?.close();
      folder = next;
    }
    return folder === null ? null : use(folder, basename(path));
  } finally {
    folder?.close();
  }
}

/** Opens a regular file below a handler's folder for reading; null if there is none. */
export function openFileBelow(root: string, path: string): number | null {
  return inFolderOf(root, path, (folder, name) => folder.openFile(name));
}

/**
 * Returns the text of a regular file below a handler's folder; null if there is none. Throws for a link or a file
 * larger than `maxBytes`.
 */
export function readTextBelow(root: string, path: string, maxBytes: number): string | null {
  const file = openFileBelow(root, path);
  if (file === null) return null;
  try {
    // Reads at most one byte more than the limit, which is enough to detect a file that is too large.
    const bytes = Buffer.alloc(Math.min(fstatSync(file).size, maxBytes) + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null);
    }
    if (length > maxBytes) throw new Error(`${path} is larger than ${maxBytes} bytes`);
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}

/** Writes a small file below a handler's folder atomically: readers see either the old text or the new text. */
export function writeAtomicallyBelow(root: string, path: string, text: string, mode = 0o600): void {
  crashPoint(`write ${path}`);
  const written = inFolderOf(root, path, (folder, name) => {
    const next = `${name}.next`;
    const file = folder.createFile(next, mode);
    try {
      writeAll(file, Buffer.from(text));
      crashPoint(`sync ${path}`);
      fsyncSync(file);
    } catch (error) {
      folder.remove(next);
      throw error;
    } finally {
      closeSync(file);
    }
    crashPoint(`rename ${path}`);
    // A folder may have the file's name.
    if (folder.facts(name)?.isDirectory()) folder.remove(name);
    folder.rename(next, name);
    return true;
  });
  if (written === null) throw new Error(`the folder of ${path} does not exist`);
}

/** Removes a file or folder below a handler's folder; does nothing if there is none. */
export function deleteBelow(root: string, path: string): void {
  crashPoint(`delete ${path}`);
  inFolderOf(root, path, (folder, name) => folder.remove(name));
}

/** Returns the names in a folder below a handler's folder; none if it does not exist. */
export function namesBelow(root: string, path: string): string[] {
  return inFolderOf(root, `${path}/-`, (folder) => folder.names()) ?? [];
}

/** Returns the entries of a folder below a handler's folder; none if it does not exist or is not a folder. */
export function entriesBelow(root: string, path: string): { name: string; facts: Stats | null }[] {
  try {
    return (
      inFolderOf(root, `${path}/-`, (folder) => folder.names().map((name) => ({ name, facts: folder.facts(name) }))) ??
      []
    );
  } catch (error) {
    if (error instanceof NotPlain) return [];
    throw error;
  }
}

/** Creates a folder below a handler's folder, with its parents. Throws if a link or file is in the way. */
export function makeFolderBelow(root: string, path: string, mode: number): void {
  let folder = SharedFolder.open(root);
  try {
    for (const name of relative(root, path).split(sep).filter(Boolean)) {
      const next = folder?.makeFolder(name, mode) ?? null;
      folder?.close();
      folder = next;
    }
  } finally {
    folder?.close();
  }
}

import { existsSync, readdirSync, type Stats } from 'node:fs';
import { join, relative } from 'node:path';
import { parseVersion } from '#protocol/index.ts';
import { NotPlain, SharedFolder } from '../folder/shared-folder.ts';

/** A log file that `listLogs` found. */
export interface Log {
  /** Log folder of the handler. */
  folder: string;
  path: string;
  size: number;
  time: number;
  /** Device and inode identify the file even if another file gets its name later. */
  dev: number;
  ino: number;
}

export interface LogList {
  files: Log[];
  /** Files and folders that were skipped, each with the reason. */
  leftOut: string[];
}

/** Limits how much a service that fills its log folder can add to an archive. */
const maxFiles = 20_000;
const maxDepth = 16;

/**
 * Lists the regular files in the log folders of all versions of a handler. Skips links, because they may lead anywhere.
 */
export function listLogs(logs: string, handler: string): LogList {
  const list: LogList = { files: [], leftOut: [] };
  for (const name of existsSync(logs) ? readdirSync(logs) : []) {
    if (!name.startsWith(`${handler}-`) || parseVersion(name.slice(handler.length + 1)) === null) continue;
    const root = join(logs, name);
    const folder = openIfPlain(() => SharedFolder.open(root));
    if (folder === null) continue;
    try {
      listFolder(folder, { logs, root, path: root, depth: 1 }, list);
    } finally {
      folder.close();
    }
  }
  return list;
}

interface Place {
  logs: string;
  root: string;
  path: string;
  depth: number;
}

function listFolder(folder: SharedFolder, place: Place, list: LogList): void {
  for (const name of folder.names()) {
    const path = join(place.path, name);
    const facts = folder.facts(name);
    if (facts?.isFile()) listFile({ facts, path, place }, list);
    if (!facts?.isDirectory()) continue;
    if (place.depth >= maxDepth) {
      list.leftOut.push(`${relative(place.logs, path)} (its folders are too deep)`);
      continue;
    }
    const inner = openIfPlain(() => folder.folder(name));
    if (inner === null) continue;
    try {
      listFolder(inner, { ...place, path, depth: place.depth + 1 }, list);
    } finally {
      inner.close();
    }
  }
}

function listFile({ facts, path, place }: { facts: Stats; path: string; place: Place }, list: LogList): void {
  const { size, mtimeMs: time, dev, ino, nlink } = facts;
  if (list.leftOut.length >= maxFiles) return;
  const name = relative(place.logs, path);
  // A hard link may refer to another user's file.
  if (nlink > 1) list.leftOut.push(`${name} (it has other names)`);
  else if (list.files.length >= maxFiles) list.leftOut.push(`${name} (too many files)`);
  else list.files.push({ folder: place.root, path, size, time, dev, ino });
}

/** Returns null if the entry was deleted or replaced by a link after it was listed. */
function openIfPlain(open: () => SharedFolder | null): SharedFolder | null {
  try {
    return open();
  } catch (error) {
    if (error instanceof NotPlain) return null;
    throw error;
  }
}

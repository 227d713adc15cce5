import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The kernel accepts paths of sockets of up to 107 bytes. The rest is for the name while the socket is created. */
const maxPathBytes = 100;
const folderPrefix = 'annex-unit-';
const socketName = 'ensemble.sock';

/** Where the socket of a unit is. */
export interface SocketPlace {
  /** Where the socket belongs: the socket itself, or a link to it. */
  path: string;
  /** The path that processes use. */
  socket: string;
  /** Path at which the socket is created, before its mode is set. */
  fresh: string;
}

/** Chooses the path of a socket: `path` or, if `path` is too long, a new folder among the temporary files (EN-68). */
export function socketPlaceOf(path: string): SocketPlace {
  if (Buffer.byteLength(path) <= maxPathBytes) return { path, socket: path, fresh: `${path}.new` };
  const folder = mkdtempSync(join(tmpdir(), folderPrefix));
  chmodSync(folder, 0o700);
  const socket = join(folder, socketName);
  return { path, socket, fresh: `${socket}.new` };
}

/** Gives the new socket the mode 0600 and its name, under which no process finds it before. */
export function placeSocket({ path, socket, fresh }: SocketPlace): void {
  chmodSync(fresh, 0o600);
  renameSync(fresh, socket);
  if (socket === path) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  symlinkSync(socket, path);
}

/** Deletes a socket, and the separate folder that it may have among the temporary files. */
export function clearSocket(path: string): void {
  const target = targetOf(path);
  if (target !== null && isOwnFolder(dirname(target))) {
    rmSync(target, { force: true });
    rmSync(`${target}.new`, { force: true });
    removeEmpty(dirname(target));
  }
  rmSync(path, { force: true });
  rmSync(`${path}.new`, { force: true });
}

function targetOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** Whether a link leads to a folder that `socketPlaceOf` created. A hook may have replaced the link. */
function isOwnFolder(folder: string): boolean {
  if (dirname(folder) !== tmpdir() || !folder.startsWith(join(tmpdir(), folderPrefix))) return false;
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something else is in it.
  }
}

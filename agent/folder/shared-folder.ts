import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  type Stats,
  unlinkSync,
} from 'node:fs';

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;
/** Limits a removal in case a service keeps adding files. */
const maxPasses = 100_000;
const maxReplacements = 100;

/** Thrown if an entry is not the regular file or folder that the agent expects. */
export class NotPlain extends Error {
  override readonly name = 'NotPlain';
}

/**
 * A folder that a handler's service may change while the agent, often as root, works in it. The object keeps the folder
 * open, so that names are resolved in it even if its path later leads elsewhere. Links are not followed.
 * `/proc/self/fd` replaces openat, which Node lacks.
 */
export class SharedFolder {
  private readonly fd: number;
  private readonly path: string;

  private constructor(fd: number, path: string) {
    this.fd = fd;
    this.path = path;
  }

  /** Opens a folder whose parent only the agent may change; null if there is none. */
  static open(path: string): SharedFolder | null {
    return SharedFolder.openAt(path, path);
  }

  /** Opens a folder that only the agent may change, following links; null if there is none. */
  static openOwn(path: string): SharedFolder | null {
    return SharedFolder.openAt(path, path, O_RDONLY | O_DIRECTORY);
  }

  private static openAt(at: string, path: string, flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW): SharedFolder | null {
    try {
      return new SharedFolder(openSync(at, flags), path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      if (['ENOTDIR', 'ELOOP'].includes(codeOf(error))) {
        throw new NotPlain(`${path} is not a folder. The agent follows no links there; remove what is in its place`);
      }
      throw error;
    }
  }

  folder(name: string): SharedFolder | null {
    return SharedFolder.openAt(this.at(name), `${this.path}/${name}`);
  }

  makeFolder(name: string, mode: number): SharedFolder {
    try {
      mkdirSync(this.at(name), { mode });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const made = this.folder(name);
    if (made === null) throw new NotPlain(`${this.path}/${name} was removed while the agent used it`);
    return made;
  }

  /** Like `makeFolder`, but replaces an existing link or file that has this name. */
  replaceByFolder(name: string, mode: number): SharedFolder {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return this.makeFolder(name, mode);
      } catch (error) {
        if (!(error instanceof NotPlain) || attempt >= maxReplacements) throw error;
        if (this.facts(name)?.isDirectory() === false) this.unlink(name);
      }
    }
  }

  names(): string[] {
    return readdirSync(`/proc/self/fd/${this.fd}`);
  }

  /** Returns the metadata of an entry without following links. */
  facts(name: string): Stats | null {
    return lstatSync(this.at(name), { throwIfNoEntry: false }) ?? null;
  }

  /** Opens a regular file for reading; null if there is none. */
  openFile(name: string): number | null {
    return this.openPlain(name, O_RDONLY);
  }

  /** Opens one of the agent's own files for reading and appending; null if there is none. */
  openToAppend(name: string): number | null {
    const fd = this.openPlain(name, O_RDWR | O_APPEND);
    if (fd === null || fstatSync(fd).uid === process.geteuid?.()) return fd;
    closeSync(fd);
    throw new NotPlain(`${this.path}/${name} belongs to another user`);
  }

  /** Creates a file, replacing any entry with that name. */
  createFile(name: string, mode: number): number {
    for (let attempt = 1; ; attempt += 1) {
      this.remove(name);
      try {
        return openSync(this.at(name), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
      } catch (error) {
        if (codeOf(error) !== 'EEXIST' || attempt >= maxReplacements) throw error;
      }
    }
  }

  rename(from: string, to: string): void {
    renameSync(this.at(from), this.at(to));
    fsyncSync(this.fd);
  }

  /** Removes a file, a link or a folder with its contents; does nothing if there is none. */
  remove(name: string): void {
    for (let pass = 0; pass < maxPasses; pass += 1) {
      if (this.unlink(name)) return;
      const folder = this.folder(name);
      if (folder === null) return;
      try {
        folder.empty();
      } finally {
        folder.close();
      }
      if (removeEmpty(this.at(name))) return;
    }
    throw new Error(`${this.path}/${name} is filled faster than it can be deleted`);
  }

  close(): void {
    closeSync(this.fd);
  }

  /** Moves subfolders up before removing them, so that only a few folders are open however deep the tree is. */
  private empty(): void {
    for (let pass = 0; pass < maxPasses; pass += 1) {
      const folders = this.names().filter((name) => !this.unlink(name));
      if (folders.length === 0 && this.names().length === 0) return;
      for (const name of folders) {
        const folder = this.folderOrNull(name);
        if (folder === null) continue;
        try {
          folder.moveFoldersTo(this);
        } finally {
          folder.close();
        }
        removeEmpty(this.at(name));
      }
    }
    throw new Error(`${this.path} is filled faster than it can be deleted`);
  }

  /**
   * Opens a subfolder; null if there is none, or if another kind of entry has replaced it. The next pass removes that
   * entry.
   */
  private folderOrNull(name: string): SharedFolder | null {
    try {
      return this.folder(name);
    } catch (error) {
      if (error instanceof NotPlain) return null;
      throw error;
    }
  }

  private moveFoldersTo(target: SharedFolder): void {
    for (const name of this.names()) {
      if (!this.unlink(name) && !removeEmpty(this.at(name))) renameSync(this.at(name), target.at(randomUUID()));
    }
  }

  /** Removes an entry that is not a folder. Returns whether the name is now free. */
  private unlink(name: string): boolean {
    try {
      unlinkSync(this.at(name));
      return true;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return true;
      if (codeOf(error) === 'EISDIR') return false;
      if (codeOf(error) === 'EPERM' && this.facts(name)?.isDirectory() !== false) return false;
      throw error;
    }
  }

  /** Opens a regular file. Rejects a file with several hard links, because it may also be in another folder. */
  private openPlain(name: string, flags: number): number | null {
    const path = `${this.path}/${name}`;
    let fd: number;
    try {
      // O_NONBLOCK: opening a pipe must not wait for its other end.
      fd = openSync(this.at(name), flags | O_NOFOLLOW | O_NONBLOCK);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      if (['ELOOP', 'ENXIO', 'EISDIR'].includes(codeOf(error))) throw notPlainFile(path);
      throw error;
    }
    const { nlink } = fstatSync(fd);
    if (fstatSync(fd).isFile() && nlink <= 1) return fd;
    closeSync(fd);
    if (nlink > 1) throw new NotPlain(`${path} has other names (hard links), and may be a file of another folder`);
    throw notPlainFile(path);
  }

  private at(name: string): string {
    if (name === '' || name === '.' || name === '..' || name.includes('/')) throw new Error(`${name} is not a name`);
    return `/proc/self/fd/${this.fd}/${name}`;
  }
}

function removeEmpty(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true;
    if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(codeOf(error))) return false;
    throw error;
  }
}

function notPlainFile(path: string): NotPlain {
  return new NotPlain(`${path} is not a plain file. The agent follows no links and reads no pipes there`);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

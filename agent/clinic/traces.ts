import { accessSync, constants, lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { maskedTexts } from '../handler/mask.ts';

/** A process of a handler, identified by its environment, working directory or command line. */
export interface HandlerProcess {
  pid: number;
  parent: number;
  line: string;
}

/** Returns the processes of the handlers in an agent's folder. */
export function processesOf(folder: string): HandlerProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').filter(Boolean);
        // Zombies have no command line.
        if (words.length === 0) return [];
        const environment = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0');
        const isOurs =
          environment.some((each) => each.startsWith(`ANNEX_HANDLER_ROOT=${folder}/`)) ||
          readlinkSync(`/proc/${name}/cwd`).startsWith(`${folder}/`) ||
          words.some((word) => word.startsWith(`${folder}/handlers/`));
        const status = readFileSync(`/proc/${name}/status`, 'utf8');
        const parent = Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1] ?? 0);
        return isOurs ? [{ pid: Number(name), parent, line: words.join(' ').slice(0, 200) }] : [];
      } catch {
        // The process has ended or belongs to another user.
        return [];
      }
    });
}

/** Kills the processes of the handlers in an agent's folder. */
export function killProcessesOf(folder: string): void {
  for (const { pid } of processesOf(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended.
    }
  }
}

/**
 * Returns the paths of the files and folders below a folder, down to `depth` levels of subfolders. A folder's path ends
 * with a slash, except at the deepest level. Does not follow links.
 */
export function filesBelow(folder: string, depth = 64): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const path = join(folder, name);
    const facts = lstatSync(path, { throwIfNoEntry: false });
    return facts?.isDirectory() && depth > 0 ? [`${path}/`, ...filesBelow(path, depth - 1)] : [path];
  });
}

/** System folders in which a handler may leave files. Folders that this user cannot write to are not searched. */
const places = ['/etc', '/opt', '/srv', '/usr/local', '/var/lib', '/var/opt', '/var/spool'];
const placesDepth = 3;

export function systemFilesOf(): Set<string> {
  return new Set(places.filter(mayWrite).flatMap((place) => filesBelow(place, placesDepth)));
}

function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Larger files are not searched. */
const maxBytes = 64 * 1024 * 1024;

/**
 * Returns the files that contain decrypted settings. Searches only outputs, logs, and status and heartbeat files. An
 * output with `[masked]` counts too: the handler printed a secret, and the agent masked it.
 */
export function placesOf(secrets: unknown, folder: string): string[] {
  const texts = maskedTexts(secrets).map((text) => Buffer.from(text));
  return filesBelow(folder).filter((path) => {
    if (!/^\/(logs\/|handlers\/[^/]+\/(status|heartbeat)\/)/.test(path.slice(folder.length))) return false;
    try {
      if (path.endsWith('/') || !statSync(path).isFile() || statSync(path).size > maxBytes) return false;
      const bytes = readFileSync(path);
      return texts.some((text) => bytes.includes(text)) || (path.includes('/commands/') && bytes.includes('[masked]'));
    } catch {
      return false;
    }
  });
}

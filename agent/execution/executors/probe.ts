import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';

/** Time limit for printing a version. A program that takes longer counts as missing. */
const probeMilliseconds = 5_000;
/** Time limit for programs that load a large runtime before they print their version. */
export const slowProbeMilliseconds = 30_000;

/** Returns the path of a program; null if there is none. Searches `path` only for names without a slash. */
export function findProgram(name: string, path: string | undefined): string | null {
  if (name.includes('/')) return isProgram(name) ? name : null;
  for (const folder of (path ?? '').split(':')) {
    const file = join(folder, name);
    if (folder.startsWith('/') && isProgram(file)) return file;
  }
  return null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Runs a program. Returns the first group of `pattern` in its output; null if it fails or nothing matches. */
export function probe(
  program: string,
  args: readonly string[],
  pattern: RegExp,
  environment: Record<string, string>,
  timeout = probeMilliseconds,
): Promise<string | null> {
  return new Promise((resolve) => {
    const options = {
      env: environment as NodeJS.ProcessEnv,
      timeout,
      killSignal: 'SIGKILL' as const,
    };
    const child = execFile(program, args, { ...options, cwd: '/', maxBuffer: 64 * 1024 }, (error, stdout) => {
      resolve(error === null ? (pattern.exec(stdout)?.[1] ?? null) : null);
    });
    child.stdin?.end();
  });
}

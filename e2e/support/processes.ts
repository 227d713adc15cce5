import { readdirSync, readFileSync } from 'node:fs';
import type { Portal } from './portal.ts';

/** Returns the id of one of a portal's processes. Throws if it is not running. */
export function processOf({ dataDir }: Portal, name: 'portal' | 'gateway' | 'worker'): number {
  const read = (pid: string, file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8');
    } catch {
      return '';
    }
  };
  for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    if (!read(pid, 'cmdline').includes(`server/${name}/main.ts`)) continue;
    if (read(pid, 'environ').includes(`DATA_DIR=${dataDir}\0`)) return Number(pid);
  }
  throw new Error(`The ${name} does not run.`);
}

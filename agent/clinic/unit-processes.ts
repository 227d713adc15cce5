import { readdirSync, readFileSync } from 'node:fs';

/** Returns the processes that hooks of units in an agent's folder have started, by their environment. */
export function unitProcessesOf(folder: string): { pid: number; line: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').filter(Boolean).join(' ');
        const environment = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0');
        const isOurs = environment.some((each) => each.startsWith(`ENSEMBLE_CONTAINER_PATH=${folder}/`));
        // Zombies have no command line.
        return isOurs && line !== '' ? [{ pid: Number(name), line: line.slice(0, 200) }] : [];
      } catch {
        // The process has ended or belongs to another user.
        return [];
      }
    });
}

/** Kills the processes that hooks of units in an agent's folder have started. */
export function killUnitProcesses(folder: string): void {
  for (const { pid } of unitProcessesOf(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended.
    }
  }
}

import { readdirSync, readFileSync } from 'node:fs';

/** The variable in the environment of a trial's processes whose value is below the agent's folder. */
type TrialVariable = 'ANNEX_WORK' | 'ENSEMBLE_CONTAINER_PATH';

/** Returns the processes that a plan or the hooks of a formula have started below a folder, by their environment. */
export function trialProcessesOf(variable: TrialVariable, folder: string): { pid: number; line: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').filter(Boolean).join(' ');
        const environment = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0');
        const isOurs = environment.some((each) => each.startsWith(`${variable}=${folder}/`));
        // Zombies have no command line.
        return isOurs && line !== '' ? [{ pid: Number(name), line: line.slice(0, 200) }] : [];
      } catch {
        // The process has ended or belongs to another user.
        return [];
      }
    });
}

/** Kills the processes that `trialProcessesOf` returns. */
export function killTrialProcesses(variable: TrialVariable, folder: string): void {
  for (const { pid } of trialProcessesOf(variable, folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended.
    }
  }
}

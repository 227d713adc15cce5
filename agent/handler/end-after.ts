import { wait } from '../portal/wait.ts';
import { CommandProcesses } from './command-processes.ts';

/** Why a command ended: without the agent's intervention, at its timeout, or because its signal was aborted. */
export type EndReason = 'itself' | 'time' | 'stop';

/** How long the processes of a command may take to end after SIGTERM. */
const graceMilliseconds = 2_000;
/** Interval at which the agent checks the state of a command's processes. */
const lookMilliseconds = 50;

/** The handle that `endAfter` returns for a running command. */
export interface Ending {
  /**
   * Returns why the command ended. Call this once the leader has ended. If signals were sent, waits until the other
   * processes have ended or were killed.
   */
  done(): Promise<EndReason>;
  /** Leaves the command running without a time limit. */
  leave(): void;
}

/**
 * Ends all processes of a command at its timeout or when the signal aborts, first with SIGTERM. `leader` is the leader
 * of its process group; undefined if the command could not be started.
 */
export function endAfter(leader: number | undefined, id: string, seconds: number, signal?: AbortSignal): Ending {
  const processes = leader === undefined ? null : new CommandProcesses(leader, id);
  let why: EndReason = 'itself';
  let kill: NodeJS.Timeout | undefined;
  let isKilled = false;
  const end = (reason: EndReason) => {
    if (why !== 'itself') return;
    why = reason;
    processes?.signal('SIGTERM');
    kill = setTimeout(() => {
      isKilled = true;
      processes?.signal('SIGKILL');
    }, graceMilliseconds);
  };
  const stop = () => end('stop');
  const timer = setTimeout(() => end('time'), seconds * 1000);
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop);
  const leave = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  };
  return {
    leave,
    async done() {
      leave();
      // The leader is a shell and ends immediately, but its children may still be cleaning up.
      if (why !== 'itself') {
        while (!isKilled && processes?.anyRunning()) await wait(lookMilliseconds / 1000, []);
        processes?.endLateOnes();
      }
      clearTimeout(kill);
      return why;
    },
  };
}

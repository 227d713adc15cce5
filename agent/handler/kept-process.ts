import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readText } from '../folder/write-file.ts';
import { wait } from '../portal/wait.ts';
import { type EndReason, endAfter } from './end-after.ts';

/** Interval at which the agent checks the state of a process. */
const lookMilliseconds = 50;
/** How many times a restarted agent looks for the process id. The shell writes it before doing anything else. */
const firstLooks = 200;

/**
 * `$1` is the folder; the command follows. The command starts only if the shell creates the file `pid`: to prevent a
 * late start, a restarted agent creates this file itself. The umask is the usual 022, because the agent's umask is
 * stricter under systemd. The shell writes the exit code to disk. If the agent is gone or has left the process
 * (`left`), the shell waits up to an hour for the folder to be deleted, because a pipe that no process has open loses
 * its contents.
 */
const wrapper = `set -C; echo $$ > "$1/pid" || exit 125; set +C
(umask 022; shift; exec "$@"); code=$?; echo $code > "$1/exit"
[ ! -e "$1/left" ] && kill -0 $PPID 2>/dev/null || { n=0; while [ -d "$1" ] && [ $n -lt 3600 ]; do sleep 1; n=$((n + 1)); done; }
exit $code`;

/** Returns the arguments with which `/bin/sh` runs a command that can outlive the agent. */
export function keptArguments(folder: string, command: readonly string[]): string[] {
  return ['-c', wrapper, 'annex-command', folder, ...command];
}

/**
 * The folder of a process that can outlive the agent: its process id, its exit code and its output pipes. With the
 * folder, a restarted agent can find out how the process ended (AZ-G3).
 */
export class ProcessFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Returns the exit code, or null while it is unknown. */
  exitCode(): number | null {
    const text = readText(join(this.path, 'exit')) ?? '';
    return /^\d+\n$/.test(text) ? Number(text) : null;
  }

  /** Whether the process has started. If not, this call prevents it from starting. */
  hasBegun(): boolean {
    try {
      writeFileSync(join(this.path, 'pid'), '-\n', { flag: 'wx', mode: 0o600 });
      return false;
    } catch {
      return true;
    }
  }

  /**
   * Makes the shell keep unread output until the agent is started again. Output that is already in the pipes can still
   * be read.
   */
  leave(): void {
    writeFileSync(join(this.path, 'left'), '', { mode: 0o600 });
  }

  /** Returns the id of the process that leads the process group; null if it has ended. */
  async leader(): Promise<number | null> {
    let leader = this.leaderNow();
    for (let looks = 0; leader === 'unknown' && looks < firstLooks; looks += 1) {
      await wait(lookMilliseconds / 1000, []);
      leader = this.leaderNow();
    }
    return leader === 'unknown' ? null : leader;
  }

  /**
   * Waits for the process to end. Ends it after `seconds`, or when `signal` aborts. If `leaving` aborts, leaves it
   * running and never resolves.
   */
  untilGone(leader: number, id: string, seconds: number, signals: ProcessSignals): Promise<GoneProcess> {
    return new Promise((resolve) => {
      const ending = endAfter(leader, id, Math.max(0, seconds), signals.signal);
      const look = setInterval(() => {
        if (this.leaderNow() !== null && this.exitCode() === null) return;
        clearInterval(look);
        signals.leaving?.removeEventListener('abort', leave);
        void ending.done().then((why) => resolve({ why, exitCode: this.exitCode() }));
      }, lookMilliseconds);
      const leave = () => {
        clearInterval(look);
        ending.leave();
      };
      if (signals.leaving?.aborted) leave();
      signals.leaving?.addEventListener('abort', leave);
    });
  }

  private leaderNow(): number | 'unknown' | null {
    const text = readText(join(this.path, 'pid')) ?? '';
    if (text === '') return 'unknown';
    const pid = /^\d+\n$/.test(text) ? Number(text) : 0;
    if (pid < 2) return null;
    // The process id may have been reused. Only the original process has this folder in its command line.
    return (readProc(pid, 'cmdline') ?? '').split('\0').includes(this.path) ? pid : null;
  }
}

export interface ProcessSignals {
  signal?: AbortSignal;
  leaving?: AbortSignal;
}

export interface GoneProcess {
  why: EndReason;
  /** Null if the process ended without an exit code. */
  exitCode: number | null;
}

/** Returns the seconds since a process started, unaffected by clock changes. */
export function secondsSinceStart(pid: number): number {
  const stat = readProc(pid, 'stat') ?? '';
  const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
  const uptime = Number((readText('/proc/uptime') ?? '').split(' ')[0]);
  return Number.isFinite(ticks) && Number.isFinite(uptime) ? Math.max(0, uptime - ticks / 100) : 0;
}

function readProc(pid: number, name: string): string | null {
  try {
    return readText(`/proc/${pid}/${name}`);
  } catch {
    return null;
  }
}

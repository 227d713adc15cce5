import { readdirSync, readFileSync } from 'node:fs';
import { crashPoint } from '../folder/crash-point.ts';

/** The environment variable that identifies the processes of a command in any group and session. */
export const commandVariable = 'ANNEX_COMMAND';

/** Maximum number of searches for strays that start while the command's processes are ending. */
const lateRounds = 10;

/** A process and its start time, which distinguishes it from a later process with the same id. */
interface Known {
  pid: number;
  parent: number;
  group: number;
  started: string;
}

/**
 * All processes of one command: its process group and, on Linux, its strays, which are processes that have left the
 * group, for example with `setsid`. Strays are identified by their environment variable or by a parent that belongs to
 * the command.
 */
export class CommandProcesses {
  private readonly leader: number | null;
  private readonly mark: string;
  private strays: Known[] = [];

  /** `leader`: the leader of the process group; null if only the environment variable identifies the processes. */
  constructor(leader: number | null, id: string) {
    this.leader = leader;
    this.mark = `${commandVariable}=${id}`;
  }

  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (!isHere(`signal ${signal}`)) return;
    // Find strays before their parents exit, because orphans get another parent.
    this.strays = [...this.livingStrays(), ...this.findStrays()];
    this.sendToGroup(signal);
    for (const { pid } of this.strays) send(pid, signal);
  }

  /** Kills strays that started while the command's processes were ending. */
  endLateOnes(): void {
    for (let round = 0; round < lateRounds; round += 1) {
      const late = this.findStrays().filter((one) => !this.strays.some((known) => isSame(known, one)));
      if (late.length === 0 || !isHere('end late ones')) return;
      for (const { pid } of late) send(pid, 'SIGKILL');
      this.strays.push(...late);
    }
  }

  /** Whether any process that received the last signal is still running. */
  anyRunning(): boolean {
    return this.sendToGroup(0) || this.livingStrays().length > 0;
  }

  private sendToGroup(signal: NodeJS.Signals | 0): boolean {
    return this.leader !== null && send(-this.leader, signal);
  }

  private livingStrays(): Known[] {
    return this.strays.filter(({ pid, started }) => factsOf(pid)?.started === started);
  }

  private findStrays(): Known[] {
    const all = allProcesses();
    const ours = new Set(all.filter(({ pid, group }) => group === this.leader || this.isMarked(pid)));
    for (let before = -1; before < ours.size; ) {
      before = ours.size;
      const numbers = new Set([...ours].map(({ pid }) => pid));
      for (const one of all) if (numbers.has(one.parent)) ours.add(one);
    }
    return [...ours].filter(({ group, pid }) => group !== this.leader && pid !== process.pid);
  }

  private isMarked(pid: number): boolean {
    return (readProc(pid, 'environ') ?? '').split('\0').includes(this.mark);
  }
}

/** Returns false once a test has stopped the agent at a crash point. */
function isHere(point: string): boolean {
  try {
    crashPoint(point);
    return true;
  } catch {
    return false;
  }
}

function isSame(a: Known, b: Known): boolean {
  return a.pid === b.pid && a.started === b.started;
}

/** Sends a signal. Returns false if no process of `target` can receive it. Signal 0 only performs this check. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch {
    return false;
  }
}

/** Returns all running processes; none on systems without `/proc`. */
function allProcesses(): Known[] {
  let names: string[] = [];
  try {
    names = readdirSync('/proc');
  } catch {
    return [];
  }
  return names.filter((name) => /^\d+$/.test(name)).flatMap((name) => factsOf(Number(name)) ?? []);
}

/** Returns a running process; null if the process has ended, even if it is still a zombie. */
function factsOf(pid: number): Known | null {
  const stat = readProc(pid, 'stat');
  if (stat === null) return null;
  // The process name, in parentheses, may contain any characters.
  const [state, parent, group, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' ? null : { pid, parent: Number(parent), group: Number(group), started: rest[16] ?? '' };
}

function readProc(pid: number, name: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return null;
  }
}

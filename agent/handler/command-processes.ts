import { readdirSync, readFileSync } from 'node:fs';
import { crashPoint } from '../folder/crash-point.ts';

/** The variable by which a command's processes are known, whatever group and session they are in. */
export const commandVariable = 'ANNEX_COMMAND';

/** So often those are looked for who were started meanwhile. */
const lateRounds = 10;

/** A process and when it started: its number may be another's soon. */
interface Known {
  pid: number;
  parent: number;
  group: number;
  started: string;
}

/**
 * All processes of one command: its group, and on Linux also those that left it, as by `setsid`. These are known by the
 * variable that they were given, or by a parent that is known.
 */
export class CommandProcesses {
  private readonly leader: number;
  private readonly mark: string;
  private strays: Known[] = [];

  constructor(leader: number, id: string) {
    this.leader = leader;
    this.mark = `${commandVariable}=${id}`;
  }

  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (!isHere(`signal ${signal}`)) return;
    // Looked for before their parents end: then nobody knows whose children they were.
    this.strays = [...this.livingStrays(), ...this.findStrays()];
    send(-this.leader, signal);
    for (const { pid } of this.strays) send(pid, signal);
  }

  /** What one of them started while it was ended is known by the variable only, and ends as well. */
  endLateOnes(): void {
    for (let round = 0; round < lateRounds; round += 1) {
      const late = this.findStrays().filter((one) => !this.strays.some((known) => isSame(known, one)));
      if (late.length === 0 || !isHere('end late ones')) return;
      for (const { pid } of late) send(pid, 'SIGKILL');
      this.strays.push(...late);
    }
  }

  /** Whether any that was there at the last signal still is. */
  areThere(): boolean {
    return send(-this.leader, 0) || this.livingStrays().length > 0;
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

/** False for an agent that a test has killed. */
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

/** False where it has ended already. Signal 0 only asks. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch {
    return false;
  }
}

/** None where there is no `/proc`. */
function allProcesses(): Known[] {
  let names: string[] = [];
  try {
    names = readdirSync('/proc');
  } catch {
    return [];
  }
  return names.filter((name) => /^\d+$/.test(name)).flatMap((name) => factsOf(Number(name)) ?? []);
}

/** Null for one that has ended, also while its parent has not asked for it. */
function factsOf(pid: number): Known | null {
  const stat = readProc(pid, 'stat');
  if (stat === null) return null;
  // Its name, in brackets, may be any text.
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

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Returns what `look` finds out about a process; an empty text if the process has ended. */
function ofProcess(look: () => string): string {
  try {
    return look();
  } catch {
    return '';
  }
}

const read = (pid: number, file: string) => ofProcess(() => readFileSync(`/proc/${pid}/${file}`, 'utf8'));

const folderOf = (pid: number) => ofProcess(() => readlinkSync(`/proc/${pid}/cwd`));

/** Returns a process, all of its descendants, and handlers' services, which have detached from their parents. */
function descendants(pid: number, dataDir: string): number[] {
  const entries = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number);
  const services = entries.filter((each) => folderOf(each).startsWith(dataDir));
  const parents = entries.map((each) => {
    const stat = read(each, 'stat');
    return [each, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])] as const;
  });
  const found = [pid];
  for (const parent of found) found.push(...parents.filter(([, of]) => of === parent).map(([each]) => each));
  return [...new Set([...found, ...services])];
}

/**
 * Whether the command is the launcher or one of its parent processes. These processes inherit the secrets from the
 * terminal.
 */
const isOnTheWay = (command: string): boolean => /npm|scripts\/bootstrap\.js|scripts\/start\.ts/.test(command);

/** Watches which processes of a launcher have one of these secrets in their environment. */
export class Environments {
  /** The commands of the processes whose environment has a secret. */
  readonly leaks = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #look: () => void;
  readonly #timer: NodeJS.Timeout;

  constructor(launcher: number, dataDir: string, secrets: readonly string[]) {
    this.#look = () => {
      for (const pid of descendants(launcher, dataDir)) {
        // Reads the command line before the environment: between fork and exec, both are still the launcher's.
        const command = read(pid, 'cmdline').replaceAll('\0', ' ').trim();
        const environment = read(pid, 'environ');
        if (command === '' || isOnTheWay(command)) continue;
        this.#seen.add(`${command} ${folderOf(pid)}`);
        if (secrets.some((secret) => environment.includes(secret))) this.leaks.add(command);
      }
    };
    this.#timer = setInterval(this.#look, 100);
  }

  /** Returns the parts that no command so far contains. */
  unseen(parts: readonly string[]): string[] {
    this.#look();
    return parts.filter((part) => ![...this.#seen].some((command) => command.includes(part)));
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

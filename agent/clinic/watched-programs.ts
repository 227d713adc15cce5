import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Programs that no handler may call, with the forbidden arguments; null forbids every call. */
const watched: Record<string, { about: 'reboot' | 'clock'; pattern: string | null }> = {
  reboot: { about: 'reboot', pattern: null },
  shutdown: { about: 'reboot', pattern: null },
  poweroff: { about: 'reboot', pattern: null },
  halt: { about: 'reboot', pattern: null },
  telinit: { about: 'reboot', pattern: null },
  init: { about: 'reboot', pattern: null },
  systemctl: { about: 'reboot', pattern: '*reboot*|*poweroff*|*halt*|*kexec*' },
  date: { about: 'clock', pattern: '*" -s"*|*" --set"*' },
  timedatectl: { about: 'clock', pattern: '*" set-time"*' },
  hwclock: { about: 'clock', pattern: '*" -s"*|*" -w"*|*" --set"*|*" --systohc"*|*" --hctosys"*' },
};

/** Programs that shadow the machine's programs, and record forbidden calls instead of executing them. */
export interface WatchedPrograms {
  /** PATH with the watched programs first. */
  path: string;
  calls(about: 'reboot' | 'clock'): string[];
}

export function watchPrograms(folder: string, path: string): WatchedPrograms {
  mkdirSync(folder, { recursive: true });
  const log = join(folder, 'calls.log');
  for (const [name, { about, pattern }] of Object.entries(watched)) {
    const real = path
      .split(delimiter)
      .map((place) => join(place, name))
      .find(existsSync);
    const note = `echo "${about} ${name} $*" >> '${log}'; exit 0`;
    const rest = real === undefined ? `echo "${name}: not found" >&2; exit 127` : `exec '${real}' "$@"`;
    const script = pattern === null ? note : `case " $*" in ${pattern}) ${note};; esac\n${rest}`;
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return {
    path: `${folder}${delimiter}${path}`,
    calls(about) {
      if (!existsSync(log)) return [];
      const lines = readFileSync(log, 'utf8').trim().split('\n');
      return lines.filter((line) => line.startsWith(`${about} `)).map((line) => line.slice(about.length + 1));
    },
  };
}

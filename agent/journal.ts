import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { rotatingFile } from './folder/rotating-file.ts';
import { indented } from './terminal.ts';

/** The agent's log: prints lines in the configured format, and writes JSON lines to `logs/agent.log`. */
export interface Journal {
  info(line: string, fields?: Record<string, unknown>): void;
  warn(line: string, fields?: Record<string, unknown>): void;
  /** Writes the line to the file, but prints it only in the format `json`. */
  note(line: string, fields?: Record<string, unknown>): void;
}

/** `plain` for a terminal, `systemd` with journald's level, `json` with all fields. */
export const logFormats = ['plain', 'systemd', 'json'] as const;

export interface JournalOptions {
  /** Format of printed lines. */
  logFormat?: (typeof logFormats)[number];
  /** Size in MiB at which `agent.log` is rotated; `logFiles` is the number of rotated files that are kept. */
  logMegabytes?: number;
  logFiles?: number;
}

export function openJournal(
  logs: string,
  print: (line: string) => void,
  { logFormat = 'plain', logMegabytes = 5, logFiles = 4 }: JournalOptions = {},
): Journal {
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const file = rotatingFile(join(logs, 'agent.log'), logMegabytes * 1024 * 1024, logFiles);
  const log = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    {
      write(line: string) {
        file.write(line);
        if (logFormat === 'json') print(line.trimEnd());
      },
    },
  );
  const clock = () => new Date().toISOString().slice(11, 19);
  const say = (line: string, isWarning: boolean) => {
    // journald adds its own time. A line break would begin an entry without a level.
    if (logFormat === 'systemd') print(`<${isWarning ? 4 : 6}>${line.replaceAll('\n', ' ')}`);
    else if (logFormat === 'plain') print(`${clock()}  ${isWarning ? '! ' : ''}${indented(line, 10)}`);
  };
  return {
    info(line, fields = {}) {
      log.info(fields, line);
      say(line, false);
    },
    warn(line, fields = {}) {
      log.warn(fields, line);
      say(line, true);
    },
    note(line, fields = {}) {
      log.info(fields, line);
    },
  };
}

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';

/** What the agent tells: one calm line for people, one JSON line in `logs/agent.log` for programs. */
export interface Journal {
  info(line: string, fields?: Record<string, unknown>): void;
  warn(line: string, fields?: Record<string, unknown>): void;
  /** In the file only. */
  note(line: string, fields?: Record<string, unknown>): void;
}

export function openJournal(logs: string, print: (line: string) => void): Journal {
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const log: Logger = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    pino.destination({ dest: join(logs, 'agent.log'), sync: true }),
  );
  const clock = () => new Date().toISOString().slice(11, 19);
  return {
    info(line, fields = {}) {
      log.info(fields, line);
      print(`${clock()}  ${line}`);
    },
    warn(line, fields = {}) {
      log.warn(fields, line);
      print(`${clock()}  ! ${line}`);
    },
    note(line, fields = {}) {
      log.info(fields, line);
    },
  };
}

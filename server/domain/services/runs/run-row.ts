import type { LogRow } from '#server/domain/executions/index.ts';
import type { Row } from '#server/domain/logs/index.ts';

/** A message of the formula’s resource files, as `ensemble-log` writes it into the output. */
export interface LoggedMessage {
  id: string;
  params: string[];
}

/** A row of a run’s output, and the message that it refers to. */
export interface RunLogRow {
  row: LogRow;
  message: LoggedMessage | null;
}

const levels = { DEBUG: 'debug', INFO: 'info', WARNING: 'warning', ERROR: 'error', CRITICAL: 'fatal' } as const;
/** `+<seconds> <LEVEL> <text>`. */
const lineForm = /^\+(\d{1,9})\.(\d{1,3}) (DEBUG|INFO|WARNING|ERROR|CRITICAL) ?(.*)$/s;
const text = String.raw`"(?:[^"\\]|\\.)*"`;
/** `{"id":"…","params":[…]}` before the text of a message. */
const messageForm = new RegExp(`^(\\{"id":${text},"params":\\[(?:${text}(?:,${text})*)?\\]\\}) ?(.*)$`, 's');

/** Returns a stored row as a row of a log. Lines that have another form are shown as they are. */
export function runRowOf(row: number, stored: Row): RunLogRow {
  const empty = { row, ms: null, n: null, level: null };
  if (stored.kind === 'gap') return { row: { ...empty, kind: 'gap', text: String(stored.bytes) }, message: null };
  const [, seconds, fraction = '', word, rest = ''] = lineForm.exec(stored.text) ?? [];
  if (seconds === undefined) return { row: { ...empty, kind: 'text', text: stored.text }, message: null };
  const ms = Number(seconds) * 1000 + Number(fraction.padEnd(3, '0'));
  const level = levels[word as keyof typeof levels];
  const [, written, shownText = ''] = messageForm.exec(rest) ?? [];
  const message = written === undefined ? null : messageOf(written);
  return {
    row: { ...empty, ms, kind: 'out', level, text: message === null ? rest : shownText || message.id },
    message,
  };
}

function messageOf(json: string): LoggedMessage | null {
  try {
    const { id, params } = JSON.parse(json) as LoggedMessage;
    return { id, params };
  } catch {
    return null;
  }
}

const least = { messages: 0, warning: 1, error: 2 } as const;
const severity = { debug: 0, info: 0, warning: 1, error: 2, fatal: 2 } as const;

/** Whether a level shows a row. */
export const isShownAt = ({ level }: LogRow, wanted: keyof typeof least): boolean =>
  level !== null && severity[level] >= least[wanted];

import type { Box } from '../amp/box.ts';
import { argumentOf, requiredArgument } from './arguments.ts';
import { unitError } from './unit-error.ts';

const logLevels = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] as const;

/** A message of `ensemble-log`. */
export interface LogEntry {
  /** Null outside of hooks. */
  clientId: string | null;
  level: (typeof logLevels)[number];
  message: string;
  /** The message of the formula's resource files, which is shown in the reader's language. */
  id?: string;
  params?: string[];
}

/** Reads the arguments of `log`. Throws BadValue. */
export function readLogEntry(box: Box, clientId: string | null): LogEntry {
  const word = requiredArgument(box, 'level');
  const level = logLevels.find((each) => each === word);
  if (level === undefined) throw unitError('BadValue', `The level is none of ${logLevels.join(', ')}.`);
  const id = argumentOf(box, 'id');
  const entry: LogEntry = { clientId, level, message: requiredArgument(box, 'message') };
  return id === '' ? entry : { ...entry, id, params: readParams(argumentOf(box, 'params')) };
}

function readParams(text: string): string[] {
  let params: unknown;
  try {
    params = text === '' ? [] : JSON.parse(text);
  } catch {
    params = null;
  }
  if (!Array.isArray(params) || !params.every((each) => typeof each === 'string')) {
    throw unitError('BadValue', 'params is not a JSON array of texts.');
  }
  return params;
}

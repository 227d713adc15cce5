import { readFileSync } from 'node:fs';
import { parseExactJson } from '#protocol/executions/exact-json.ts';
import { AmpError } from '../amp/amp-error.ts';
import { type Tool, type ToolCall, WrongUse } from './tool.ts';

export const relationSet: Tool = {
  usage: 'relation-set [-] [KEY=VALUE | KEY=@FILE | KEY=@-]…',
  async run(call) {
    const unit = call.environment.ENSEMBLE_LOCAL_UNIT ?? '';
    if (unit === '') throw new WrongUse('ENSEMBLE_LOCAL_UNIT is not set.');
    await call.send('set', { unit_name: unit, json_blob: await changesOf(call) });
    return '';
  },
};

/**
 * Returns the changes as the text of a JSON object. Standard input is read only if there are no arguments, or if an
 * argument requests it: it may belong to the loop around the command (EN-70).
 */
async function changesOf({ words, readInput }: ToolCall): Promise<string> {
  const assignments = words.filter((word) => word !== '-').map(readAssignment);
  const readsObject = words.length === 0 || words.includes('-');
  const readers = assignments.filter(({ value }) => value === '@-').length + Number(readsObject);
  if (readers > 1) throw new WrongUse('Standard input can be read only once.');
  const texts = readsObject ? textsIn(await readInput()) : new Map<string, string>();
  for (const { key, value } of assignments) texts.set(key, JSON.stringify(await contentOf(value, readInput)));
  return `{${[...texts].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}

function readAssignment(word: string): { key: string; value: string } {
  const equals = word.indexOf('=');
  if (equals < 1) throw new WrongUse(`${word} is not KEY=VALUE.`);
  return { key: word.slice(0, equals), value: word.slice(equals + 1) };
}

async function contentOf(value: string, readInput: ToolCall['readInput']): Promise<string> {
  if (!value.startsWith('@')) return value;
  if (value === '@-') return await readInput();
  return decodeText(readFileSync(value.slice(1)), value.slice(1));
}

/** Returns the text of a file or of standard input. */
export function decodeText(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new AmpError('BadValue', `${name} is not UTF-8.`);
  }
}

/** Returns the JSON text of each value; numbers keep all their digits. */
function textsIn(json: string): Map<string, string> {
  let value: unknown = null;
  try {
    value = parseExactJson(json);
  } catch {
    // The check below rejects the text.
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !/^\s*\{/.test(json)) {
    throw new AmpError('BadValue', 'Standard input is not a JSON object.');
  }
  return new Map(Object.entries(value).map(([key, each]) => [key, JSON.stringify(each)]));
}

import { parseExactJson } from '#protocol/executions/exact-json.ts';
import { unitError } from './unit-error.ts';

/** The settings of a node: the JSON text of each value, by key. */
export type NodeTexts = Map<string, string>;

/** Every node fits into one value of AMP. */
export const nodeLimits = { bytes: 64_000, keys: 1_000, keyBytes: 255 };

/**
 * Parses the argument of `set`. Numbers keep all their digits (EN-42), and of a key that occurs twice, the last value
 * counts. Throws BadValue if the text is not a JSON object, or if it has a key that a node cannot have.
 */
export function readChanges(json: string): NodeTexts {
  const value = parse(json);
  // A number is parsed to an object that keeps its digits.
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !/^\s*\{/.test(json)) {
    throw unitError('BadValue', 'The settings are not a JSON object.');
  }
  const texts: NodeTexts = new Map();
  for (const [key, each] of Object.entries(value)) {
    checkKey(key);
    texts.set(key, JSON.stringify(each));
  }
  return texts;
}

function parse(json: string): unknown {
  try {
    const value = parseExactJson(json);
    // The values are written again later; a value that is nested too deeply for that is rejected here.
    JSON.stringify(value);
    return value;
  } catch {
    throw unitError('BadValue', 'The settings are not JSON.');
  }
}

function checkKey(key: string): void {
  if (key === '') throw unitError('BadValue', 'A key is empty.');
  if (key.includes('\0') || !key.isWellFormed()) throw unitError('BadValue', 'A key contains an invalid character.');
  if (Buffer.byteLength(key) > nodeLimits.keyBytes) {
    throw unitError('BadValue', `A key is longer than ${nodeLimits.keyBytes} bytes.`);
  }
}

/** Returns a node as the text of a JSON object. */
export function nodeJson(texts: NodeTexts): string {
  return `{${[...texts].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}

/** Throws TooLong if the node has more keys or bytes than a node may have (EN-43). */
export function checkSize(texts: NodeTexts): void {
  if (texts.size > nodeLimits.keys) {
    throw unitError('TooLong', `The settings would have ${texts.size} keys. At most ${nodeLimits.keys} are possible.`);
  }
  const bytes = Buffer.byteLength(nodeJson(texts));
  if (bytes > nodeLimits.bytes) {
    throw unitError('TooLong', `The settings would have ${bytes} bytes. At most ${nodeLimits.bytes} are possible.`);
  }
}

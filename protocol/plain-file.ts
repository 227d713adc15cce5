import { isPlainObject } from './any-case.ts';
import type { FormattedMessage, MessageReference } from './file.ts';
import type { HeartbeatDocument } from './heartbeat.ts';
import { type DocumentLimits, utf8Bytes } from './limits.ts';
import { type StatusDocument, type StatusObject, type StatusWord, statusWords } from './status.ts';
import { parseHandlerTime } from './time.ts';

/**
 * A fast path for `statusFileWith`: nearly all files are spelled exactly as in the source document, and this function
 * reads such files much faster. Returns null for any other file, valid or not; the caller then parses the file with the
 * schema. A test checks that both ways give the same result.
 */
export function plainStatus(file: unknown, limits: DocumentLimits): StatusDocument | null {
  if (!Array.isArray(file) || file.length !== 1 || !isPlainObject(file[0])) return null;
  const { version, timestampUTC, status, ...others } = file[0];
  if (!isOne(version) || !isText(timestampUTC, limits.messageBytes)) return null;
  for (const _ in others) return null;
  const object = plainObject(status, limits, 0, { left: limits.substatuses });
  return object && { ...object, timestampUTC: parseHandlerTime(timestampUTC) };
}

/** A fast path for `heartbeatFileWith`, with the same rules as `plainStatus`. */
export function plainHeartbeat(file: unknown, limits: DocumentLimits): HeartbeatDocument | null {
  if (!Array.isArray(file) || file.length !== 1 || !isPlainObject(file[0])) return null;
  const { version, heartbeat, ...others } = file[0];
  if (!isOne(version) || !isPlainObject(heartbeat)) return null;
  for (const _ in others) return null;
  const { status, code, formattedMessage, ...more } = heartbeat;
  for (const _ in more) return null;
  if (status !== 'ready' && status !== 'notready') return null;
  const document: HeartbeatDocument = { status };
  if (code !== undefined) {
    if (!Number.isSafeInteger(code)) return null;
    document.code = code as number;
  }
  if (formattedMessage !== undefined) {
    const formatted = plainFormatted(formattedMessage, limits);
    if (formatted === null) return null;
    document.message = { formattedMessage: formatted };
  }
  return document;
}

/** Whether a version is 1.0, as a number or as the text that most handlers write. */
const isOne = (version: unknown): boolean => version === 1 || version === '1.0';

function plainObject(
  input: unknown,
  limits: DocumentLimits,
  depth: number,
  room: { left: number },
): StatusObject | null {
  if (!isPlainObject(input)) return null;
  const object: Partial<StatusObject> = {};
  // Uses the property order of the schema, so that equal documents have equal JSON texts.
  for (const name of ['name', 'operation', 'configurationAppliedTime'] as const) {
    const text = input[name];
    if (text === undefined) continue;
    if (!isText(text, limits.messageBytes)) return null;
    object[name] = text;
  }
  if (!statusWords.includes(input.status as StatusWord)) return null;
  object.status = input.status as StatusWord;
  if (input.code !== undefined) {
    if (!Number.isSafeInteger(input.code)) return null;
    object.code = input.code as number;
  }
  object.substatus = [];
  if (input.substatus !== undefined) {
    if (!Array.isArray(input.substatus) || (depth >= limits.substatusDepth && input.substatus.length > 0)) return null;
    room.left -= input.substatus.length;
    if (room.left < 0) return null;
    for (const each of input.substatus) {
      const below = plainObject(each, limits, depth + 1, room);
      if (below === null) return null;
      object.substatus.push(below);
    }
  }
  if (input.message !== undefined) {
    const message = plainReference(input.message, limits);
    if (message === null) return null;
    object.message = message;
  }
  if (input.formattedMessage !== undefined) {
    const formatted = plainFormatted(input.formattedMessage, limits);
    if (formatted === null) return null;
    object.formattedMessage = formatted;
  }
  for (const key in input) if (!known.has(key)) return null;
  return object as StatusObject;
}

const known = new Set([
  ...['name', 'operation', 'configurationAppliedTime', 'status', 'code', 'substatus', 'message', 'formattedMessage'],
]);

function plainReference(input: unknown, limits: DocumentLimits): MessageReference | null {
  if (!isPlainObject(input)) return null;
  const { id, params = [], ...others } = input;
  if (!isText(id, limits.paramBytes) || id.trim() === '' || !Array.isArray(params)) return null;
  if (!params.every((param) => isText(param, limits.paramBytes))) return null;
  for (const _ in others) return null;
  return { id, params };
}

function plainFormatted(input: unknown, limits: DocumentLimits): FormattedMessage | null {
  if (!isPlainObject(input)) return null;
  const { lang, message, ...others } = input;
  if (!isText(lang, limits.paramBytes) || !isText(message, limits.messageBytes) || message.trim() === '') return null;
  for (const _ in others) return null;
  return { lang, message };
}

function isText(text: unknown, maximum: number): text is string {
  if (typeof text !== 'string' || text.includes('\u0000') || !text.isWellFormed()) return false;
  return text.length * 3 <= maximum || utf8Bytes(text) <= maximum;
}

import { DomainError } from '#server/domain/error.ts';

/** Encodes an opaque position in a list: the sort keys of the last row returned. */
export function writeCursor(keys: readonly string[]): string {
  return Buffer.from(JSON.stringify(keys)).toString('base64url');
}

/** The largest PostgreSQL `integer`. */
const largestInteger = 2 ** 31 - 1;

/** Decodes a cursor with one whole number. Throws 400 `cursor_invalid`. */
export function readNumberCursor(cursor: string): number {
  const [text = ''] = readCursor(cursor, 1);
  if (!/^\d{1,10}$/.test(text) || Number(text) > largestInteger) {
    throw new DomainError('bad_request', 'cursor_invalid');
  }
  return Number(text);
}

/**
 * Decodes the sort keys of a cursor. Throws 400 `cursor_invalid` if the cursor cannot be decoded or does not have
 * `length` keys.
 */
export function readCursor(cursor: string, length?: number): string[] {
  const refuse = () => new DomainError('bad_request', 'cursor_invalid');
  let keys: unknown;
  try {
    keys = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    throw refuse();
  }
  if (!Array.isArray(keys) || (length !== undefined && keys.length !== length)) throw refuse();
  return keys.map((key) => {
    if (typeof key !== 'string' || key.includes('\u0000')) throw refuse();
    return key;
  });
}

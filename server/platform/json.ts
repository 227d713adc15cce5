import { type JsonFault, scanJson } from './json-scan.ts';

export type { JsonFault } from './json-scan.ts';

export interface JsonOptions {
  /** Maximum nesting of arrays and objects; 64 by default. */
  maxDepth?: number;
  /** Maximum bytes of the UTF-8 text. Not needed if the size was already checked. */
  maxBytes?: number;
  /**
   * What to do with numbers beyond ±2^53, with decimals that have too many digits, and with NUL and lone surrogates, which PostgreSQL cannot store. `refuse`
   * rejects the text and lists the path of each. `repair` keeps the rounded number or inserts U+FFFD. Reports of agents
   * are repaired, so that one bad value does not reject the whole report.
   */
  oddities?: 'refuse' | 'repair';
}

/** The value, or the faults in the text. `fault` is the first of `faults`. */
export type JsonResult =
  | { value: unknown; fault: null; faults: readonly [] }
  | { value: undefined; fault: JsonFault; faults: readonly JsonFault[] };

const failed = (fault: JsonFault, faults: readonly JsonFault[] = [fault]): JsonResult => ({
  value: undefined,
  fault,
  faults,
});

/**
 * Parses untrusted JSON. Rejects invalid UTF-8, deep nesting and duplicate properties, because two parsers could pick
 * different duplicates. Accepts a byte-order mark. Faults never contain input, except property names in paths.
 * `__proto__` is an ordinary own property, as with JSON.parse.
 */
export function parseJson(source: string | Uint8Array, options: JsonOptions = {}): JsonResult {
  const size = typeof source === 'string' ? Buffer.byteLength(source) : source.byteLength;
  if (options.maxBytes !== undefined && size > options.maxBytes) {
    return failed({ path: '', code: 'json_too_large', params: { limit: options.maxBytes } });
  }
  const decoded = typeof source === 'string' ? source : decodeUtf8(source);
  if (decoded === null) return failed({ path: '', code: 'json_not_utf8' });
  const text = decoded.charCodeAt(0) === 0xfeff ? decoded.slice(1) : decoded;

  const repair = options.oddities === 'repair';
  const ordinary = readOrdinary(text, options.maxDepth ?? 64);
  if (ordinary !== undefined) return { value: ordinary, fault: null, faults: [] };
  const { faults, unstorable } = scanJson(text, { maxDepth: options.maxDepth ?? 64, repair });
  const first = faults[0];
  if (first !== undefined) return failed(first, faults);
  return { value: JSON.parse(repair ? replaceEscapes(text, unstorable) : text), fault: null, faults: [] };
}

/** A number that may lose digits. Names and strings that look like one are only scanned too. */
const longNumber = /[0-9.]{17}|[0-9.][eE]-[0-9]{3}(?![0-9a-fA-F-])/;

/**
 * Parses text that needs no scan, at a fraction of the cost of a scan. Returns undefined for any other text, valid or
 * not. Detects duplicate properties by counting: they leave the parsed value with fewer properties than the text has
 * names.
 */
function readOrdinary(text: string, maxDepth: number): unknown {
  if (text.includes('\\u') || longNumber.test(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return countNames(value, maxDepth) === countNamesIn(text) ? value : undefined;
}

/**
 * Returns the total number of properties in all objects; -1 if the nesting is too deep or a number is ±2^53 or beyond.
 */
function countNames(value: unknown, depthLeft: number): number {
  if (typeof value === 'number') return Math.abs(value) >= 2 ** 53 ? -1 : 0;
  if (typeof value !== 'object' || value === null) return 0;
  if (depthLeft === 0) return -1;
  let count = 0;
  if (Array.isArray(value)) {
    for (const element of value) {
      const below = countNames(element, depthLeft - 1);
      if (below < 0) return -1;
      count += below;
    }
    return count;
  }
  for (const name of Object.keys(value)) {
    const below = countNames((value as Record<string, unknown>)[name], depthLeft - 1);
    if (below < 0) return -1;
    count += below + 1;
  }
  return count;
}

/**
 * Counts the quotes that are followed by a colon. Nearly all of them end a name. A quote that belongs to a string value
 * makes the count too high, and the text is then scanned.
 */
function countNamesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) {
    let next = at + 1;
    let code = text.charCodeAt(next);
    while (code === 0x20 || (code >= 0x09 && code <= 0x0d)) code = text.charCodeAt(++next);
    if (code === 0x3a) count += 1;
  }
  return count;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes UTF-8 and keeps a byte-order mark. Returns null for invalid bytes. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** Replaces the `\uXXXX` escapes at these offsets with `\ufffd`. Both have six characters. */
function replaceEscapes(text: string, positions: readonly number[]): string {
  if (positions.length === 0) return text;
  let from = 0;
  const pieces: string[] = [];
  for (const position of positions) {
    pieces.push(text.slice(from, position), '\\ufffd');
    from = position + 6;
  }
  return pieces.join('') + text.slice(from);
}

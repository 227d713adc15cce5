import { type JsonFault, scanJson } from './json-scan.ts';

export { type JsonFault, pointerSegment } from './json-scan.ts';

export interface JsonOptions {
  /** Deepest nesting of arrays and objects; 64 by contract. */
  maxDepth?: number;
  /** Bytes of UTF-8 text; unlimited where absent, for texts that were cut off earlier. */
  maxBytes?: number;
  /**
   * What to do with numbers beyond ±2^53, NUL and lone surrogates (the database stores neither). `refuse` names each
   * by path. `repair` keeps the rounded number and puts U+FFFD: for reports, where one bad entry must not cost the rest.
   */
  oddities?: 'refuse' | 'repair';
}

/** Either the value, or what is wrong with the text: `fault` is the first of `faults`. */
export type JsonResult =
  | { value: unknown; fault: null; faults: readonly [] }
  | { value: undefined; fault: JsonFault; faults: readonly JsonFault[] };

const failed = (fault: JsonFault, faults: readonly JsonFault[] = [fault]): JsonResult => ({
  value: undefined,
  fault,
  faults,
});

/**
 * Reads JSON from outside. UTF-8 is checked, a byte-order mark is accepted, nesting is bounded before anything is
 * built, a property given twice is refused (two readers could pick different ones), and no message holds input.
 * `__proto__` stays an ordinary own property, as JSON.parse makes it.
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
  const { faults, unstorable } = scanJson(text, { maxDepth: options.maxDepth ?? 64, repair });
  const first = faults[0];
  if (first !== undefined) return failed(first, faults);
  return { value: JSON.parse(repair ? replaceEscapes(text, unstorable) : text), fault: null, faults: [] };
}

/** The text of UTF-8 bytes, with a byte-order mark where there is one; null where the bytes are no UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Puts `\ufffd` where a `\uXXXX` escape stands for something that cannot be stored; both have six characters. */
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

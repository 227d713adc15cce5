import { DomainError, type ErrorCode, type ErrorParams, type Fault } from '#server/domain/error.ts';

/** Returns the error for a rejected file, with its faults. */
export const refused = (faults: readonly Fault[]): DomainError =>
  new DomainError('unprocessable', 'xliff_refused', { faults });

export const refusedFor = (code: ErrorCode, params?: ErrorParams): DomainError =>
  refused([{ path: '', code, ...(params && { params }) }]);

/** Decodes UTF-8, or UTF-16 with a byte-order mark. Throws 422 for anything else. */
export function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw refusedFor('xliff_encoding');
  }
}

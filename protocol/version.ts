/** Largest number in a version: 2^31 − 1. */
export const maxVersionPart = 2_147_483_647;

const pattern = /^(?:0|[1-9]\d{0,9})(?:\.(?:0|[1-9]\d{0,9})){0,3}$/;

/**
 * Returns the 1 to 4 numbers of a version (AZ-P1): integers from 0 to 2^31 − 1 without leading zeros. Null if the text
 * is not a version.
 */
export function parseVersion(text: string): number[] | null {
  if (!pattern.test(text)) return null;
  const parts = text.split('.').map(Number);
  return parts.every((part) => part <= maxVersionPart) ? parts : null;
}

/**
 * Returns four zero-padded numbers joined by dots: sorting these texts sorts the versions, and two spellings of one
 * version (`1.0`, `1.0.0.0`) have the same key. Null if the text is not a version.
 */
export function versionKey(text: string): string | null {
  const parts = parseVersion(text);
  if (parts === null) return null;
  return [0, 1, 2, 3].map((index) => String(parts[index] ?? 0).padStart(10, '0')).join('.');
}

/**
 * Compares two versions number by number; missing numbers count as 0. Returns a negative number, zero or a positive
 * one. Throws RangeError if a text is not a version.
 */
export function compareVersions(a: string, b: string): number {
  const left = versionKey(a);
  const right = versionKey(b);
  if (left === null || right === null) throw new RangeError('not a version');
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Largest part of a version: 2^31 − 1. */
export const maxVersionPart = 2_147_483_647;

const pattern = /^(?:0|[1-9]\d{0,9})(?:\.(?:0|[1-9]\d{0,9})){0,3}$/;

/**
 * The 1 to 4 numbers of a version, or null if it is not a version (AZ-P1): integers from 0 to 2^31 − 1, no leading
 * zeros.
 */
export function parseVersion(text: string): number[] | null {
  if (!pattern.test(text)) return null;
  const parts = text.split('.').map(Number);
  return parts.every((part) => part <= maxVersionPart) ? parts : null;
}

/**
 * Four numbers padded with zeros and joined by dots: text order is version order, and two spellings of one version
 * (`1.0`, `1.0.0.0`) have the same key. Null if the text is not a version.
 */
export function versionKey(text: string): string | null {
  const parts = parseVersion(text);
  if (parts === null) return null;
  return [0, 1, 2, 3].map((index) => String(parts[index] ?? 0).padStart(10, '0')).join('.');
}

/** Negative, zero or positive, number by number with missing parts as 0. Throws RangeError if one is not a version. */
export function compareVersions(a: string, b: string): number {
  const left = versionKey(a);
  const right = versionKey(b);
  if (left === null || right === null) throw new RangeError('not a version');
  return left < right ? -1 : left > right ? 1 : 0;
}

import { createHash } from 'node:crypto';

/** Maximum bytes of JSON that a row stores for each of `before`, `after` and `details`; settings can be much larger. */
const maxBytes = 16_384;
/** Parts of up to this size are not replaced individually. */
const smallBytes = 1_024;

/** Replacement for a part that is too large: its size, and a digest that shows whether the part changed. */
export interface Cut {
  $cut: { bytes: number; sha256: string };
}

/**
 * Returns the value as plain JSON. If it is too large, its large parts are replaced by `Cut`s; if that is not enough,
 * the whole value is replaced. Returns null if there is no value.
 */
export function bounded(value: object | null | undefined): Record<string, unknown> | null {
  if (value === null || value === undefined) return null;
  const text = JSON.stringify(value);
  const plain = JSON.parse(text) as Record<string, unknown>;
  if (Buffer.byteLength(text) <= maxBytes) return plain;
  const smaller = cutParts(plain) as Record<string, unknown>;
  return Buffer.byteLength(JSON.stringify(smaller)) <= maxBytes ? smaller : { ...cutOf(text) };
}

/** Replaces large values by `Cut`s. Descends into objects, so that small parts inside large objects stay readable. */
function cutParts(value: unknown): unknown {
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) <= smallBytes) return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return cutOf(text);
  const parts = Object.entries(value);
  if (parts.length > 100) return cutOf(text);
  return Object.fromEntries(parts.map(([key, part]) => [key, cutParts(part)]));
}

function cutOf(text: string): Cut {
  return { $cut: { bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') } };
}

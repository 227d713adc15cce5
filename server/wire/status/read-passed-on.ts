import { isPlainObject, read, type StatusObject, statusObjectWith } from '#protocol/index.ts';
import type { DocumentLimits } from '#protocol/limits.ts';
import { memoize } from '#server/platform/memoize.ts';
import { cutTo } from './cut.ts';

/** Fields that are truncated to `messageBytes`. */
const messages = new Set(['name', 'operation', 'configurationappliedtime', 'message']);
/** Fields that are truncated to `paramBytes`. */
const params = new Set(['lang']);
/** Maximum number of repairs. Real statuses need only a few. */
const maxRepairs = 20;

const readerOf = memoize((limits: DocumentLimits) => statusObjectWith(limits));

/**
 * Reads a handler's status from a stock agent in the same way as from a reference agent. Truncates texts to the limits,
 * and drops only malformed parts: a field with a fault, or a substatus without a status. Returns null if the status
 * itself is malformed or has too many faults.
 */
export function readPassedOn(passedOn: unknown, limits: DocumentLimits): StatusObject | null {
  const reader = readerOf(limits);
  const status = cutDown(passedOn, limits, 0);
  for (let repairs = 0; repairs <= maxRepairs; repairs++) {
    const result = read(reader, status);
    if ('value' in result) return result.value;
    for (const { path } of result.faults) if (!removeAt(status, path)) return null;
  }
  return null;
}

/** Returns a copy within the limits for texts, and for the number and depth of substatuses. */
function cutDown(value: unknown, limits: DocumentLimits, depth: number): unknown {
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
      const name = key.toLowerCase();
      if (name === 'substatus' && Array.isArray(inner)) {
        if (depth >= limits.substatusDepth) return [];
        return [[key, inner.slice(0, limits.substatuses).map((part) => cutDown(part, limits, depth + 1))]];
      }
      if (typeof inner === 'string' && messages.has(name)) return [[key, cutTo(limits.messageBytes, inner)]];
      if (typeof inner === 'string' && params.has(name)) return [[key, cutTo(limits.paramBytes, inner)]];
      if (name === 'message' || name === 'formattedmessage') return [[key, cutDown(inner, limits, depth)]];
      return [[key, inner]];
    }),
  );
}

/**
 * Removes the part with a fault, or sets it to null if it is in a list. Returns false if the part is the status itself.
 */
function removeAt(status: unknown, path: string): boolean {
  const parts = path.split('/').slice(1);
  // If the `status` of a substatus is faulty, removes the substatus.
  if (parts.at(-1)?.toLowerCase() === 'status') parts.pop();
  for (let last = parts.pop(); last !== undefined; last = parts.pop()) {
    const at = parts.reduce<unknown>((inner, part) => (inner as Record<string, unknown> | null)?.[part], status);
    if (Array.isArray(at)) at[Number(last)] = null;
    // If the field is missing, removes the object that should contain it.
    else if (isPlainObject(at) && Object.hasOwn(at, last)) delete at[last];
    else if (isPlainObject(at)) continue;
    return true;
  }
  return false;
}

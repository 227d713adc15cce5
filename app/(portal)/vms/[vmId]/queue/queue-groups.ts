import type { QueueLine } from '../vm-data.ts';

/** Consecutive entries of one extension that have the same turn and wait for the same thing. */
export interface QueueGroup {
  name: string;
  /** The commands in order; empty while they are not known. */
  steps: { command: NonNullable<QueueLine['step']>; version: string; limitSeconds: number | null }[];
  askedBy: string | null;
  askedAt: string | null;
  turn: number | null;
  /** Why the group waits, as a sentence; null if it does not wait. */
  reason: string | null;
}

/** Joins consecutive entries of one extension, such as install and enable. */
export function queueGroups(entries: readonly QueueLine[]): QueueGroup[] {
  const groups: QueueGroup[] = [];
  for (const { name, step, version, limitSeconds, askedBy, askedAt, turn, reason } of entries) {
    const steps = step === null ? [] : [{ command: step, version: version ?? '', limitSeconds }];
    const text = reason?.text ?? null;
    const last = groups.at(-1);
    if (last?.name === name && last.reason === text && last.turn === turn) last.steps.push(...steps);
    else groups.push({ name, steps, askedBy, askedAt, turn, reason: text });
  }
  return groups;
}

/** Returns the element id of an extension's row, which is also its URL fragment. */
export const rowId = (name: string): string => `queue-${name}`;

/** Returns the extension that a URL's fragment names; null if it names none. */
export function nameInHash(hash: string): string | null {
  const name = hash.startsWith('#queue-') ? hash.slice('#queue-'.length) : '';
  return name === '' ? null : name;
}

/**
 * Returns the group in which an extension waits; otherwise its first group in `next`, then in `now`; undefined if the
 * extension has no group.
 */
export function waitingGroupOf(
  name: string,
  { now, next, waiting }: Readonly<Record<'now' | 'next' | 'waiting', readonly QueueGroup[]>>,
): QueueGroup | undefined {
  return [...waiting, ...next, ...now].find((group) => group.name === name);
}

import { type HookEntry, hookOf } from '../units/hook-entries.ts';
import type { QueueLine } from '../vm-data.ts';

/** Consecutive entries of one extension that have the same turn and wait for the same thing, or one execution. */
export interface QueueGroup {
  /** The extension, or the name of an execution's plan, which may be empty. */
  name: string;
  /** Null for an extension. */
  execution: { id: string; version: string; call: QueueLine['call']; validUntil: string | null } | null;
  /** The commands in order; empty for an execution, and while the commands are not known. */
  steps: { command: NonNullable<QueueLine['step']>; version: string; limitSeconds: number | null }[];
  askedBy: string | null;
  askedAt: string | null;
  turn: number | null;
  /** The timeout of an execution. */
  limitSeconds: number | null;
  /** Why the group waits, as a sentence; null if it does not wait. */
  reason: string | null;
}

/** A row of the queue: commands of an extension or an execution, or a hook of a unit. */
export type QueueRow = { kind: 'line'; line: QueueGroup } | { kind: 'hook'; hook: HookEntry };

/** Returns the rows of the queue, with consecutive entries of one extension, such as install and enable, in one row. */
export function queueRows(entries: readonly QueueLine[]): QueueRow[] {
  const rows: QueueRow[] = [];
  for (const entry of entries) {
    const hook = hookOf(entry);
    if (hook !== null) {
      rows.push({ kind: 'hook', hook });
      continue;
    }
    const { id, name, step, version, limitSeconds, askedBy, askedAt, turn, reason, call, validUntil } = entry;
    const steps = step === null ? [] : [{ command: step, version: version ?? '', limitSeconds }];
    const text = reason?.text ?? null;
    const execution = id === null ? null : { id, version: version ?? '', call, validUntil };
    const row = rows.at(-1);
    const last = row?.kind === 'line' ? row.line : undefined;
    const isSame = execution === null && last?.execution === null && last.name === name;
    if (isSame && last.reason === text && last.turn === turn) last.steps.push(...steps);
    else {
      const limit = id === null ? null : limitSeconds;
      const line = { name, execution, steps, askedBy, askedAt, turn, limitSeconds: limit, reason: text };
      rows.push({ kind: 'line', line });
    }
  }
  return rows;
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
  { now, next, waiting }: Readonly<Record<'now' | 'next' | 'waiting', readonly QueueRow[]>>,
): QueueGroup | undefined {
  return [...waiting, ...next, ...now]
    .flatMap((row) => (row.kind === 'line' ? row.line : []))
    .find((group) => group.execution === null && group.name === name);
}

/** Names something that a process keeps in memory between calls, and creates it. */
export interface Slot<Value> {
  create(): Value;
}

/** Declares a slot. It holds nothing itself: each `ProcessMemory` has its own value. */
export function slot<Value>(create: () => Value): Slot<Value> {
  return { create };
}

/**
 * What one process keeps in memory between calls: caches, locks and counters, created when they are first used. Modules
 * declare slots; the process owns the values.
 */
export class ProcessMemory {
  readonly #values = new Map<Slot<unknown>, unknown>();

  of<Value>(wanted: Slot<Value>): Value {
    if (!this.#values.has(wanted)) this.#values.set(wanted, wanted.create());
    return this.#values.get(wanted) as Value;
  }
}

/** Identifies a value that a process keeps in memory between calls, and creates it. */
export interface Slot<Value> {
  create(): Value;
}

/** Declares a slot. It holds no value, because each `ProcessMemory` has its own. */
export function slot<Value>(create: () => Value): Slot<Value> {
  return { create };
}

/**
 * The values that a process keeps in memory between calls: caches, locks and counters. Each is created when first used.
 * Modules declare slots, but the process owns the values.
 */
export class ProcessMemory {
  readonly #values = new Map<Slot<unknown>, unknown>();

  of<Value>(wanted: Slot<Value>): Value {
    if (!this.#values.has(wanted)) this.#values.set(wanted, wanted.create());
    return this.#values.get(wanted) as Value;
  }
}

/** Maximum number of items per batch, and of batches that run at the same time. */
export interface BatchBounds {
  items: number;
  atOnce: number;
}

/** An item of a batch that has not begun. */
interface Waiting<Item, Result> {
  item: Item;
  settle(result: Result): void;
  fail(error: unknown): void;
}

/**
 * Processes items of concurrent calls together. A batch begins once pending events have been processed, not after a
 * fixed time, so a single item is processed without delay.
 */
export class Batches<Item, Result> {
  readonly #bounds: BatchBounds;
  #waiting: Waiting<Item, Result>[] = [];
  #running = 0;
  #scheduled = false;

  constructor(bounds: BatchBounds) {
    this.#bounds = bounds;
  }

  /**
   * Adds an item to the next batch, and returns its result. `run` processes a batch and returns the results in the order
   * of the items. If it throws, all items of the batch fail. All calls must pass equivalent functions.
   */
  run(item: Item, run: (items: readonly Item[]) => Promise<readonly Result[]>): Promise<Result> {
    return new Promise((settle, fail) => {
      this.#waiting.push({ item, settle, fail });
      this.#schedule(run);
    });
  }

  #schedule(run: (items: readonly Item[]) => Promise<readonly Result[]>): void {
    if (this.#scheduled || this.#running >= this.#bounds.atOnce || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const batch = this.#waiting.splice(0, this.#bounds.items);
      this.#running += 1;
      void this.#process(batch, run).finally(() => {
        this.#running -= 1;
        this.#schedule(run);
      });
      this.#schedule(run);
    });
  }

  async #process(
    batch: readonly Waiting<Item, Result>[],
    run: (items: readonly Item[]) => Promise<readonly Result[]>,
  ): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new Error(`${batch.length} items have ${results.length} results`);
      for (const [index, { settle }] of batch.entries()) settle(results[index] as Result);
    } catch (error) {
      for (const { fail } of batch) fail(error);
    }
  }
}

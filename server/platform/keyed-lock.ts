/** Runs functions with the same key one at a time. If a function fails, the next one still runs. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(key: string, act: () => Promise<T>): Promise<T> {
    const mine = (this.#last.get(key) ?? Promise.resolve()).then(act, act);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}

import { LRUCache } from 'lru-cache';

/** Keeps up to `max` values by key. When it is full, a new key replaces the least recently used one. */
export class RecentValues<Value extends object> {
  readonly #values: LRUCache<string, Value>;

  constructor(max: number) {
    this.#values = new LRUCache({ max });
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Value): void {
    this.#values.set(key, value);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}

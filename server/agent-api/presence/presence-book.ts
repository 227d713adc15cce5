import type { Database } from '#db/client.ts';
import { mergeSighting, type Sighting, writeSightings } from '#server/domain/enrollment/index.ts';

const flushMs = 1_000;
const batchRows = 500;

/**
 * Collects sightings in memory and writes them in sorted batches about once a second, so that polls write nothing to
 * the database.
 */
export class PresenceBook {
  readonly #db: Database;
  readonly #onError: (error: unknown) => void;
  #pending = new Map<string, Sighting>();
  #timer: NodeJS.Timeout | undefined;
  /** Flushes run one at a time, so that they use only one connection while the database is slow. */
  #flushing: Promise<void> = Promise.resolve();

  constructor(db: Database, onError: (error: unknown) => void) {
    this.#db = db;
    this.#onError = onError;
  }

  /** Adds a sighting. The caller must not change it afterwards. */
  saw(sighting: Sighting): void {
    const known = this.#pending.get(sighting.vmId);
    if (known === undefined) this.#pending.set(sighting.vmId, sighting);
    else mergeSighting(known, sighting);
    this.#timer ??= setTimeout(() => {
      this.#flushing = this.#flushing.then(() => {
        this.#timer = undefined;
        return this.flush().catch(this.#onError);
      });
    }, flushMs);
  }

  /** Writes all pending sightings. If that fails, they are kept for the next flush. */
  async flush(): Promise<void> {
    const rows = [...this.#pending.values()].sort((a, b) => (a.vmId < b.vmId ? -1 : 1));
    this.#pending = new Map();
    for (let start = 0; start < rows.length; start += batchRows) {
      const batch = rows.slice(start, start + batchRows);
      try {
        await writeSightings(this.#db, batch);
      } catch (error) {
        for (const row of rows.slice(start)) if (!this.#pending.has(row.vmId)) this.#pending.set(row.vmId, row);
        throw error;
      }
    }
  }

  /** Writes the remaining sightings at shutdown. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#flushing;
    await this.flush().catch(this.#onError);
  }
}

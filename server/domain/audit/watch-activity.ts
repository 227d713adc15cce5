import { isDeepStrictEqual } from 'node:util';
import type { ChainFault } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { openFaults } from './accepted-faults.ts';
import { beginActivity } from './begin-activity.ts';
import { endWalk, readHead, type Walk, walkFrom, walkOn, walkStart } from './chain.ts';
import { type KeptHead, readKeptHead, writeKeptHead } from './kept-head.ts';
import { type ChainVerdict, readVerdict, writeVerdict } from './verdict.ts';

/** Rows per step when all entries are checked; a step takes a fraction of a second. */
const rowsPerStep = 5_000;
/**
 * How often the verdict is written even if it does not change, so that pages show that the worker is still checking.
 */
const verdictEveryMs = 20_000;

/** The result of checking the newest entries. */
export interface News {
  /** Number of entries that were checked for the first time. */
  count: number;
  /**
   * VMs that the entries after the kept head are about; null for an entry about something else. Empty if there are no
   * new entries.
   */
  vmIds: (string | null)[];
  /** Whether the fault in the verdict changed. */
  changed: boolean;
}

/**
 * Checks the activity log continuously: `checkNewest` checks the new entries, and `checkAll` checks all entries step by
 * step. The kept head in DATA_DIR advances only over valid entries. The caller ensures that only one watch runs.
 */
export class ActivityWatch {
  readonly #onFault: (fault: ChainFault) => void;
  #walk: Walk = walkStart;
  #found: ChainFault | null = null;
  #verdict: ChainVerdict | null = null;
  #newest: ChainFault | null = null;
  #all: ChainFault | null = null;
  #seen = -1;

  /**
   * `onFault` is called when the first fault among the newest entries changes, and after each check of all entries that
   * finds a fault.
   */
  constructor(onFault: (fault: ChainFault) => void) {
    this.#onFault = onFault;
  }

  /** Checks the entries after the kept head, and advances the head if they are valid. */
  async checkNewest(services: Services, now: Date): Promise<News> {
    const kept = await beginActivity(services, now);
    const end = await endWalk(services, walkFrom(kept), kept);
    const [fault = null] = await openFaults(services, end.faults, kept);
    const { position, hash } = end.walk;
    if (fault === null && position > kept.position && hash !== null) {
      await writeKeptHead(services, { ...kept, position, hash, at: now.toISOString() });
    }
    if (fault !== null && !isDeepStrictEqual(fault, this.#newest)) this.#onFault(fault);
    this.#newest = fault;
    const count = Math.max(0, position - Math.max(this.#seen, kept.position));
    this.#seen = Math.max(this.#seen, position);
    return { count, vmIds: count > 0 ? end.vmIds : [], changed: await this.#tell(services, now) };
  }

  /**
   * Checks the next rows of the whole chain, starting over at the end. Returns whether the fault in the verdict
   * changed.
   */
  async checkAll(services: Services, now: Date): Promise<boolean> {
    const step = await walkOn(services, this.#walk, rowsPerStep);
    this.#walk = step.walk;
    const kept = await readKeptHead(services);
    this.#found ??= await firstOf(services, step.faults, kept);
    if (!step.done) return false;
    const end = await endWalk(services, this.#walk, kept);
    this.#all = this.#found ?? (await firstOf(services, end.faults, kept));
    this.#walk = walkStart;
    this.#found = null;
    if (this.#all !== null) this.#onFault(this.#all);
    return this.#tell(services, now, { verifiedAt: now, verifiedPosition: end.walk.position });
  }

  /** Stores the verdict for the pages if it changed or is old. Returns whether its fault changed. */
  async #tell(
    services: Services,
    now: Date,
    verified?: Pick<ChainVerdict, 'verifiedAt' | 'verifiedPosition'>,
  ): Promise<boolean> {
    const isFirst = this.#verdict === null;
    const before = this.#verdict ?? readVerdict(services.keys, await readHead(services.db));
    // Until all entries have been checked once, the fault that the previous worker found still applies.
    if (isFirst && verified === undefined) this.#all ??= before?.fault ?? null;
    const { verifiedAt = null, verifiedPosition = null } = before ?? {};
    const fault = this.#newest ?? this.#all;
    const verdict = { verifiedAt, verifiedPosition, ...verified, checkedAt: now, fault };
    const changed = !isDeepStrictEqual(before?.fault ?? null, fault);
    const age = now.getTime() - (before?.checkedAt.getTime() ?? 0);
    if (!isFirst && !changed && verified === undefined && age >= 0 && age < verdictEveryMs) return false;
    await writeVerdict(services, verdict);
    this.#verdict = verdict;
    return changed;
  }
}

async function firstOf(
  services: Services,
  faults: readonly ChainFault[],
  kept: KeptHead | null,
): Promise<ChainFault | null> {
  return (await openFaults(services, faults, kept))[0] ?? null;
}

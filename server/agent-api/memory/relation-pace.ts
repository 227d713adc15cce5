/** Number of changes a minute above which a relation is busy, and then the seconds between its news. */
const busyMoves = 60;
const minuteMs = 60_000;
const pauseMs = 10_000;
/** Number of relations above which calm ones are forgotten. */
const keptRelations = 10_000;

interface Pace {
  /** The beginning of the current minute, and the number of changes in it. */
  since: number;
  moves: number;
  /** Whether the relation was busy in the minute before. */
  wasBusy: boolean;
  pending: NodeJS.Timeout | undefined;
}

/**
 * Limits how often agents learn of changes in a relation. Two services that keep changing each other’s settings would
 * otherwise have all agents of the relation look without a pause. News that is held back is passed on within 10
 * seconds.
 */
export class RelationPace {
  readonly #tell: (relation: string) => void;
  readonly #now: () => number;
  readonly #paces = new Map<string, Pace>();

  constructor(tell: (relation: string) => void, now: () => number) {
    this.#tell = tell;
    this.#now = now;
  }

  /** Notes a change of a relation, and passes it on, now or later. */
  moved(relation: string): void {
    const pace = this.#paceOf(relation);
    pace.moves += 1;
    if (pace.moves <= busyMoves && !pace.wasBusy) {
      this.#tell(relation);
      return;
    }
    pace.pending ??= setTimeout(() => {
      pace.pending = undefined;
      this.#tell(relation);
    }, pauseMs).unref();
  }

  close(): void {
    for (const { pending } of this.#paces.values()) clearTimeout(pending);
    this.#paces.clear();
  }

  #paceOf(relation: string): Pace {
    const now = this.#now();
    const known = this.#paces.get(relation);
    if (known !== undefined && now - known.since < minuteMs) return known;
    const isRecent = known !== undefined && now - known.since < 2 * minuteMs;
    const wasBusy = isRecent && known.moves > busyMoves;
    // The entry is kept, because its pending news refers to it.
    if (known !== undefined) return Object.assign(known, { since: now, moves: 0, wasBusy });
    this.#forgetCalm(now);
    const pace: Pace = { since: now, moves: 0, wasBusy, pending: undefined };
    this.#paces.set(relation, pace);
    return pace;
  }

  #forgetCalm(now: number): void {
    if (this.#paces.size < keptRelations) return;
    for (const [relation, { since, pending }] of this.#paces) {
      if (pending === undefined && now - since >= 2 * minuteMs) this.#paces.delete(relation);
    }
  }
}

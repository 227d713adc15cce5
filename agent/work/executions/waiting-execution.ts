/** How many times the current goal state may be replaced before it comes to rest, while an execution waits for it. */
const maxOvertaken = 3;

/**
 * An execution that is waiting in the portal. It can begin once the goal state that was in force at its turn, or a
 * newer goal state, has come to rest (MU-28).
 */
export class WaitingExecution {
  readonly stamp: number;
  readonly turn: number;
  /** The turn of the goal state that was in force at the execution's turn; -1 if there was none. */
  private readonly inForce: number;
  private overtaken = 0;

  /**
   * `goal`: the turn of this machine's newest goal state. `rested`: the turn of the last goal state that came to rest.
   */
  constructor({ stamp, turn }: { stamp: number; turn: number }, goal: number | null, rested: number | null) {
    this.stamp = stamp;
    this.turn = turn;
    if (goal === null) this.inForce = -1;
    // Turns have no gaps: if `rested` is the turn before this one, no goal state was declared between them.
    else this.inForce = goal > turn && rested === turn - 1 ? rested : goal;
  }

  mayBegin(rested: number | null): boolean {
    return this.inForce < 0 || (rested !== null && rested >= this.inForce);
  }

  /** Whether another goal state may replace the current one. Counts each replacement that delays the execution. */
  mayBeOvertaken(rested: number | null): boolean {
    if (this.mayBegin(rested)) return true;
    if (this.overtaken >= maxOvertaken) return false;
    this.overtaken += 1;
    return true;
  }
}

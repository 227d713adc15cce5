/** How often goal states may overtake an execution. Then the one in hand comes to rest first. */
const maxOvertaken = 3;

/**
 * An execution that waits in the portal. It can begin when the goal state that was in force at its turn, or a newer one,
 * has come to rest (MU-28).
 */
export class WaitingExecution {
  readonly stamp: number;
  readonly turn: number;
  /** The turn of the goal state that was in force at the execution's turn; -1 if there was none. */
  private readonly inForce: number;
  private overtaken = 0;

  /** `goal`: the turn of the newest goal state of this machine; `rested`: of the last one that came to rest. */
  constructor({ stamp, turn }: { stamp: number; turn: number }, goal: number | null, rested: number | null) {
    this.stamp = stamp;
    this.turn = turn;
    if (goal === null) this.inForce = -1;
    // Turns have no gaps, so nothing was declared between the goal state before this turn and this turn.
    else this.inForce = goal > turn && rested === turn - 1 ? rested : goal;
  }

  mayBegin(rested: number | null): boolean {
    return this.inForce < 0 || (rested !== null && rested >= this.inForce);
  }

  /** Whether another goal state may replace the one in hand. Counts those that do. */
  mayBeOvertaken(rested: number | null): boolean {
    if (this.mayBegin(rested)) return true;
    if (this.overtaken >= maxOvertaken) return false;
    this.overtaken += 1;
    return true;
  }
}

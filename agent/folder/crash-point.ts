type Visitor = (point: string) => void;

let visitor: Visitor | null = null;

/**
 * Marks a place between two persistent effects: what was written, started or sent. Does nothing in production. A test
 * counts these places and then stops the agent at each of them: from there on, every place throws.
 */
export function crashPoint(point: string): void {
  visitor?.(point);
}

/** For tests: called at every crash point. */
export function visitCrashPoints(next: Visitor | null): void {
  visitor = next;
}

type Visitor = (point: string) => void;

let visitor: Visitor | null = null;

/**
 * Marks a point between two persistent effects: writes, process starts and requests. Does nothing in production. A test
 * counts the points and stops the agent at each point: from there on, every point throws.
 */
export function crashPoint(point: string): void {
  visitor?.(point);
}

/** For tests: sets the function that is called at every crash point; null removes it. */
export function visitCrashPoints(next: Visitor | null): void {
  visitor = next;
}

type Visitor = (point: string) => void;

let visitor: Visitor | null = null;

/**
 * A place between two effects that outlast the agent: what was written, started or sent. It does nothing in production.
 * A test counts these places, then stops the agent at each of them: from there on every place throws.
 */
export function crashPoint(point: string): void {
  visitor?.(point);
}

/** For tests: called at every crash point. */
export function visitCrashPoints(next: Visitor | null): void {
  visitor = next;
}

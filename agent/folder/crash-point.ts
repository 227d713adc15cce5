type Visitor = (point: string) => void;

let visitor: Visitor | null = null;

/**
 * A place between two things that outlast the agent: what was written, started or sent. It does nothing; the test that
 * kills the agent at every such place counts here, and from its place on throws at each.
 */
export function crashPoint(point: string): void {
  visitor?.(point);
}

/** For tests: who is asked at every crash point, or nobody. */
export function visitCrashPoints(next: Visitor | null): void {
  visitor = next;
}

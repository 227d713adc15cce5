/** Asks the reader whether to leave the page, and calls `go` if the reader agrees. */
export type Ask = (go: () => void) => void;

/** Set by the page that has unsaved changes. There is at most one such page. */
let guard: Ask | null = null;

/** Sets the function that asks the reader, and returns a function that removes it. */
export function guardPage(ask: Ask): () => void {
  guard = ask;
  return () => {
    if (guard === ask) guard = null;
  };
}

/**
 * Calls `go` to leave the page, after a confirmation if there are unsaved changes. Needed only for programmatic
 * navigation: `useLeaveGuard` intercepts links, Back and Forward.
 */
export function mayLeave(go: () => void): void {
  if (guard === null) go();
  else guard(go);
}

import { AgentError, sentenceOf } from '../agent-error.ts';
import { PortalRefusal } from '../portal/portal.ts';

/** Retry interval for requests that the portal rejects until a person intervenes. */
const refusedSeconds = 60;

/** Returns the seconds until the next poll after an error. `next` returns the next pause of the backoff. */
export function pauseAfter(error: unknown, next: () => number): number {
  if (!(error instanceof PortalRefusal)) return next();
  return error.retryAfter ?? (error.passing ? next() : refusedSeconds);
}

/** Describes why the first poll failed. */
export function startTroubleOf(error: unknown): string {
  return error instanceof AgentError ? error.message : `The portal does not respond: ${sentenceOf(error)}.`;
}

/** Describes why there is no new goal state, and what a person can do about it. */
export function troubleOf(error: unknown): string {
  if (error instanceof AgentError) return `${error.message} Trying again.`;
  return `No goal state from the portal: ${sentenceOf(error)}. ${adviceFor(error)}`;
}

function adviceFor(error: unknown): string {
  const code = error instanceof PortalRefusal ? error.code : '';
  if (code === 'duplicate_agent') {
    return 'Two machines use one identity, as after copying a disk. Give the copy its own identity: create a VM and an enrollment token in the portal, then run enroll --again with it there. Handlers keep running.';
  }
  if (error instanceof PortalRefusal && error.status === 401) {
    return 'The VM was deleted, or another machine was enrolled for it. To enroll this machine again, create an enrollment token in the portal and run enroll --again with it. Handlers keep running.';
  }
  return 'Trying again until it responds.';
}

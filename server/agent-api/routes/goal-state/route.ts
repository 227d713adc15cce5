import { authenticateAgent, pollAfter } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { type FetchedGoalState, fetchGoalState } from '#server/domain/goal-states/index.ts';
import { type Admitted, admit, noteSighting } from '../../authenticate.ts';
import type { AgentCall } from '../../call.ts';

const longestWait = 60;

/** Seconds within which an agent whose connection broke should be back. */
const hungUpGrace = 5;

/**
 * `GET /agent/v1/goal-state`: 200 with the goal state, or 304 where the agent has it. With `?wait=` the answer is held
 * until there is a newer one; a VM holds one poll, and a newer poll ends the older.
 */
export async function goalState(call: AgentCall): Promise<Response> {
  const admitted = await admit(call);
  const { door, request, url } = call;
  const { vmId } = admitted.agent;
  const ifNoneMatch = request.headers.get('if-none-match');
  const wait = readWait(url.searchParams.get('wait'));
  const mayHold = wait > 0 && ifNoneMatch !== null && door.watch.held < door.services.config.limits.heldPolls;

  const place = mayHold ? door.watch.enter(vmId) : null;
  try {
    const until = door.clock().getTime() + wait * 1000;
    for (;;) {
      const found = await fetchGoalState(door.services.db, vmId, ifNoneMatch, door.clock());
      if (!found) throw new DomainError('unauthenticated', 'credential_refused');
      const left = until - door.clock().getTime();
      if (found.text !== null || !place || left <= 0) return answer(call, admitted, found, mayHold ? wait : 0);
      noteSighting(call, admitted, left / 1000 + 2);
      const why = await place.next(left, request.signal);
      if (why !== 'look') {
        const answered = answer(call, admitted, { ...found, text: null }, wait);
        if (request.signal.aborted) noteSighting(call, admitted, hungUpGrace, true);
        return answered;
      }
      await authenticateAgent(door.services.db, request.headers.get('authorization'));
    }
  } finally {
    place?.leave();
  }
}

/** Seconds that the agent lets the answer be held, clamped to a minute; anything else counts as none. */
function readWait(text: string | null): number {
  return text !== null && /^\d{1,6}$/.test(text) ? Math.min(Number(text), longestWait) : 0;
}

function answer(call: AgentCall, admitted: Admitted, found: FetchedGoalState, held: number): Response {
  const again = pollAfter(held);
  noteSighting(call, admitted, again + held);
  const headers = { etag: found.etag, 'annex-poll-after': String(again), 'cache-control': 'no-cache' };
  if (found.text === null) return new Response(null, { status: 304, headers });
  return new Response(found.text, { status: 200, headers: { ...headers, 'content-type': 'application/json' } });
}

import { pollAfter } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { type FetchedGoalState, fetchGoalState } from '#server/domain/goal-states/index.ts';
import {
  type Admitted,
  admit,
  hasOtherUnits,
  hasUnannouncedNews,
  newsHeaders,
  noteSighting,
  unitsHeader,
} from '../../authenticate.ts';
import type { AgentAnswer, AgentCall } from '../../call.ts';
import type { KnownAgent } from '../../memory/agent-memory.ts';

const longestWait = 60;

/** Seconds within which an agent should reconnect after its connection was lost. */
const hungUpGrace = 5;

/**
 * `GET /agent/v1/goal-state`: returns 200 with the goal state, or 304 if the agent already has it. With `?wait=`, a 304
 * is held until the goal state changes, logs are requested, an execution is waiting or must end, the stamp of the units
 * differs from the header `Annex-Units`, or the wait times out. Each VM has at most one held poll; a newer poll ends
 * it. If the agent is cached and has the current goal state, no database statement runs.
 */
export function goalState(call: AgentCall): AgentAnswer | Promise<AgentAnswer> {
  const admitted = admit(call);
  return admitted instanceof Promise ? admitted.then((known) => answerNow(call, known)) : answerNow(call, admitted);
}

function answerNow(call: AgentCall, admitted: Admitted): AgentAnswer | Promise<AgentAnswer> {
  const { door } = call;
  const has = call.header('if-none-match');
  const wait = call.query === '' ? 0 : readWait(new URLSearchParams(call.query).get('wait'));
  const mayHold = wait > 0 && has !== null && door.held.size < door.services.config.limits.heldPolls;
  // An agent whose polls can be held is expected to poll again soon, even after an immediate response.
  if (has === null || has !== admitted.agent.etag) return deliver(call, admitted, mayHold ? wait : 0);
  if (!mayHold) return unchanged(call, admitted, has, 0);
  return hasNews(call, admitted.agent) ? unchanged(call, admitted, has, wait) : hold(call, admitted, has, wait);
}

const hasNews = (call: AgentCall, agent: KnownAgent): boolean =>
  hasUnannouncedNews(agent) || hasOtherUnits(call, agent);

/** Returns how many seconds to hold the response: at most 60, and 0 if the value is malformed. */
function readWait(text: string | null): number {
  return text !== null && /^\d{1,6}$/.test(text) ? Math.min(Number(text), longestWait) : 0;
}

async function hold(call: AgentCall, admitted: Admitted, has: string, wait: number): Promise<AgentAnswer> {
  const { door } = call;
  const { vmId } = admitted.agent;
  const poll = door.held.enter(vmId);
  try {
    const until = door.clock().getTime() + wait * 1000;
    for (;;) {
      const left = until - door.clock().getTime();
      if (left <= 0) return unchanged(call, admitted, has, wait);
      noteSighting(call, admitted, left / 1000 + 2);
      const why = await poll.next(left, call);
      if (why !== 'look') {
        const answer = unchanged(call, admitted, has, wait);
        if (call.hasHungUp()) noteSighting(call, admitted, hungUpGrace, true);
        return answer;
      }
      const agent = await door.agents.find(call.header('authorization'));
      if (agent.etag !== has) return await deliver(call, admitted, wait);
      if (hasNews(call, agent)) return unchanged(call, { agent, counter: admitted.counter }, has, wait);
    }
  } finally {
    door.held.leave(vmId, poll);
  }
}

function unchanged(call: AgentCall, admitted: Admitted, etag: string, held: number): AgentAnswer {
  return { status: 304, headers: headersOf(call, admitted, etag, held), body: null };
}

async function deliver(call: AgentCall, admitted: Admitted, held: number): Promise<AgentAnswer> {
  const { door } = call;
  const { vmId, etag } = admitted.agent;
  const found: FetchedGoalState | null =
    door.texts.get(vmId, etag) ?? (await fetchGoalState(door.services.db, vmId, door.clock()));
  if (found === null) throw new DomainError('unauthenticated', 'credential_refused');
  door.texts.keep(vmId, found);
  const headers = headersOf(call, admitted, found.etag, held);
  headers.push('content-type', 'application/json');
  return { status: 200, headers, body: found.text };
}

function headersOf(call: AgentCall, admitted: Admitted, etag: string, held: number): string[] {
  const again = pollAfter(held);
  noteSighting(call, admitted, again + held);
  const headers = ['etag', etag, 'annex-poll-after', String(again), 'cache-control', 'no-cache'];
  return headers.concat(newsHeaders(admitted.agent), unitsHeader(call, admitted.agent));
}

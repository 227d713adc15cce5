import type { Logger } from 'pino';
import { anonymous } from '#server/domain/actor.ts';
import type { Context, Services } from '#server/domain/context.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { HeldPolls, OtherEnd } from './held-polls.ts';
import type { ReportIntake } from './intake/report-intake.ts';
import type { KnownAgent } from './memory/agent-memory.ts';
import type { GoalStateTexts } from './memory/goal-state-texts.ts';
import type { KnownAgents } from './memory/known-agents.ts';
import type { MessageMatchers } from './memory/message-matchers.ts';
import type { RecentRefusals } from './memory/recent-refusals.ts';
import type { PresenceBook } from './presence/presence-book.ts';
import type { RateLimit } from './rate-limit.ts';

/** The queues, timers and caches of the agent API. They live as long as the process. */
export interface AgentDoor {
  services: Services;
  log: Logger;
  clock: Clock;
  agents: KnownAgents;
  texts: GoalStateTexts;
  held: HeldPolls;
  presence: PresenceBook;
  intake: ReportIntake;
  matchers: MessageMatchers;
  refusals: RecentRefusals;
  perAddress: RateLimit;
  /** Limits the certificate renewals of each VM. */
  renewals: RateLimit;
}

/** A call to the agent API, independent of the transport. */
export interface AgentCall extends OtherEnd {
  door: AgentDoor;
  method: string;
  path: string;
  /** The text after `?`; empty if there is none. */
  query: string;
  remoteAddress: string;
  requestId: string;
  /** Returns a header by its lowercase name; null if it is absent. */
  header(name: string): string | null;
  /** Returns the body's bytes. Throws 413 `report_too_large` if the body has more than `limit` bytes. */
  readBytes(limit: number): Promise<Buffer>;
  stream(): AsyncIterable<Uint8Array>;
}

/** A response to the agent. */
export interface AgentAnswer {
  status: number;
  /** Header names and values, alternating. */
  headers: string[];
  body: string | null;
}

/** Returns the context for the verbs of a call. The actor is anonymous until the agent is authenticated. */
export function contextOf(call: AgentCall, agent?: KnownAgent): Context {
  const { door } = call;
  return {
    ...door.services,
    log: door.log,
    actor: agent ? { kind: 'agent', id: agent.vmId, name: agent.vmName, role: null, namespaces: [] } : anonymous,
    origin: { door: 'agent', address: call.remoteAddress, client: call.header('user-agent') },
    now: door.clock(),
    requestId: call.requestId,
  };
}

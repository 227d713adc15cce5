import type { Logger } from 'pino';
import { anonymous } from '#server/domain/actor.ts';
import type { Context, Services } from '#server/domain/context.ts';
import type { PresenceBook } from '#server/domain/enrollment/index.ts';
import type { MessageRecovery } from '#server/domain/localization/index.ts';
import type { ReportIntake } from '#server/domain/reports/index.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { KnownAgent } from './agent-memory.ts';
import type { GoalStateTexts } from './goal-state-texts.ts';
import type { HeldPolls, OtherEnd } from './held-polls.ts';
import type { KnownAgents } from './known-agents.ts';
import type { RateLimit } from './rate-limit.ts';

/** What the agents' door holds for its whole life, beside what every process holds. */
export interface AgentDoor {
  services: Services;
  log: Logger;
  clock: Clock;
  agents: KnownAgents;
  texts: GoalStateTexts;
  held: HeldPolls;
  presence: PresenceBook;
  intake: ReportIntake;
  recovery: MessageRecovery;
  perAddress: RateLimit;
  /** Certificate renewals of a VM. */
  renewals: RateLimit;
}

/** One call at the door, whatever carries it. */
export interface AgentCall extends OtherEnd {
  door: AgentDoor;
  method: string;
  /** Without the query. */
  path: string;
  /** What follows the `?`; empty without one. */
  query: string;
  remoteAddress: string;
  requestId: string;
  /** A header by its lower-case name. */
  header(name: string): string | null;
  /** The body's bytes as they came. Throws 413 `report_too_large` above so many. */
  readBytes(limit: number): Promise<Buffer>;
  /** The body's bytes as they come. */
  stream(): AsyncIterable<Uint8Array>;
}

/** What the agent gets. */
export interface AgentAnswer {
  status: number;
  /** Names and values in turn. */
  headers: string[];
  body: string | null;
}

/** The context of a call's verbs; nobody's before the agent is let in. */
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

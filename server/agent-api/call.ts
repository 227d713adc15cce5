import type { Logger } from 'pino';
import type { Context, Services } from '#server/domain/context.ts';
import type { PresenceBook } from '#server/domain/enrollment/index.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { GoalStateWatch } from './goal-state-watch.ts';
import type { IdentityWindow } from './identity.ts';
import type { RateLimit } from './rate-limit.ts';

/** What the agents' door holds for its whole life, beside what every process holds. */
export interface AgentDoor {
  services: Services;
  log: Logger;
  clock: Clock;
  watch: GoalStateWatch;
  presence: PresenceBook;
  identities: IdentityWindow;
  perVm: RateLimit;
  perAddress: RateLimit;
}

/** One call at the door. */
export interface AgentCall {
  door: AgentDoor;
  request: Request;
  url: URL;
  ctx: Context;
  remoteAddress: string;
}

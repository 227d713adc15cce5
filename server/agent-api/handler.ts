import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { anonymous } from '#server/domain/actor.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { PresenceBook } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { problemResponse } from '#server/i18n/index.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { AgentCall, AgentDoor } from './call.ts';
import { GoalStateWatch } from './goal-state-watch.ts';
import { IdentityWindow } from './identity.ts';
import { RateLimit } from './rate-limit.ts';
import { enroll } from './routes/enroll/route.ts';
import { goalState } from './routes/goal-state/route.ts';
import { packageBytes } from './routes/packages/route.ts';
import { reports } from './routes/reports/route.ts';

type Route = (call: AgentCall, match: RegExpExecArray) => Promise<Response>;

const routes: readonly { method: string; path: RegExp; route: Route }[] = [
  { method: 'GET', path: /^\/agent\/v1\/goal-state$/, route: goalState },
  { method: 'POST', path: /^\/agent\/v1\/reports$/, route: reports },
  { method: 'GET', path: /^\/agent\/v1\/packages\/([0-9a-f]{64})$/, route: packageBytes },
  { method: 'POST', path: /^\/agent\/v1\/enroll$/, route: enroll },
];

/** What the server knows of a call; `closing` is aborted when the process begins to drain. */
export interface CallInfo {
  remoteAddress: string;
  closing?: AbortSignal;
}

/** The agents' door as one function, the same on the gateway and on the portal. `close` writes what is pending. */
export interface AgentHandler {
  (request: Request, info: CallInfo): Promise<Response>;
  close(): Promise<void>;
}

/** Opens the door: connects its listener to the database, and answers `/agent/v1`. */
export function createAgentHandler(services: Services & { log: Logger; clock?: Clock }): AgentHandler {
  const { log } = services;
  const clock = services.clock ?? (() => new Date());
  const onError = (error: unknown) => log.error({ err: error }, 'agent door');
  const door: AgentDoor = {
    services,
    log,
    clock,
    watch: new GoalStateWatch(services.wakes),
    presence: new PresenceBook(services.db, onError),
    identities: new IdentityWindow(),
    perVm: new RateLimit(services.config.vmRate, 3, clock),
    perAddress: new RateLimit(5, 12, clock),
  };

  let draining: AbortSignal | undefined;
  const handle = async (request: Request, { remoteAddress, closing }: CallInfo): Promise<Response> => {
    if (closing && closing !== draining) {
      draining = closing;
      closing.addEventListener('abort', () => door.watch.release(), { once: true });
    }
    const requestId = request.headers.get('x-request-id') ?? randomUUID();
    const origin = { door: 'agent' as const, address: remoteAddress, client: request.headers.get('user-agent') };
    const ctx: Context = { ...services, log, actor: anonymous, origin, now: clock(), requestId };
    try {
      const url = new URL(request.url);
      const here = routes.flatMap((entry) => {
        const match = entry.path.exec(url.pathname);
        return match ? [{ ...entry, match }] : [];
      });
      const found = here.find((entry) => entry.method === request.method);
      if (found) return await found.route({ door, request, url, ctx, remoteAddress }, found.match);
      if (here.length === 0) throw new DomainError('not_found', 'not_found');
      const methods = here.map((entry) => entry.method).join(', ');
      const error = new DomainError('method_not_allowed', 'method_not_allowed', { params: { methods } });
      const refused = problemResponse(error, request, requestId, log);
      refused.headers.set('allow', methods);
      return refused;
    } catch (error) {
      return problemResponse(error, request, requestId, log);
    }
  };
  return Object.assign(handle, {
    close: async () => {
      await door.watch.close();
      await door.presence.close();
    },
  });
}

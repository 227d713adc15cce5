import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Services } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { problemResponse } from '#server/i18n/index.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { AgentAnswer, AgentCall, AgentDoor } from './call.ts';
import { HeldPolls } from './held-polls.ts';
import { ReportIntake } from './intake/report-intake.ts';
import { GoalStateTexts } from './memory/goal-state-texts.ts';
import { KnownAgents } from './memory/known-agents.ts';
import { MessageMatchers } from './memory/message-matchers.ts';
import { RecentRefusals } from './memory/recent-refusals.ts';
import { type Arrival, NodeCall } from './node-call.ts';
import { PresenceBook } from './presence/presence-book.ts';
import { RateLimit } from './rate-limit.ts';
import { agent } from './routes/agent/route.ts';
import { certificate } from './routes/certificate/route.ts';
import { enroll } from './routes/enroll/route.ts';
import {
  executionFile,
  executionMessages,
  executionProgress,
  executionResult,
  executionTranscript,
  nextExecution,
} from './routes/executions/route.ts';
import { goalState } from './routes/goal-state/route.ts';
import { instance } from './routes/instance/route.ts';
import { logArchive, logRequests } from './routes/log-requests/route.ts';
import { logs } from './routes/logs/route.ts';
import { packageBytes } from './routes/packages/route.ts';
import { platforms } from './routes/platforms/route.ts';
import { reports } from './routes/reports/route.ts';
import { unitNode } from './routes/unit-nodes/route.ts';
import { unitRemoved, unitRunLog, unitRunPhase, unitSettings, unitSkipped, unitState } from './routes/units/route.ts';
import { webAnswer, webCall } from './web-call.ts';

type Answering = (call: AgentCall) => AgentAnswer | Promise<AgentAnswer>;

/** The frequent calls with a fixed path, by path and method. */
const busy = new Map<string, Readonly<Record<string, Answering>>>([
  ['/agent/v1/goal-state', { GET: goalState }],
  ['/agent/v1/reports', { POST: reports }],
  ['/agent/v1/executions/next', { GET: nextExecution }],
  ['/agent/v1/units', { GET: unitState }],
]);

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const ofExecution = (what: string) => new RegExp(`^/agent/v1/executions/(${uuid})/${what}$`);

/** Paths about a unit. The verbs check the name. */
const ofUnit = (what: string) => new RegExp(`^/agent/v1/units/([^/]+/[^/]+)${what}$`);

type Numbered = (call: AgentCall, id: string) => AgentAnswer | Promise<AgentAnswer>;

/** The frequent calls about one execution, by the end of the path. */
const busyOfExecution = new Map<string, Numbered>([
  ['progress', executionProgress],
  ['result', executionResult],
]);
const executionPath = ofExecution(`(${[...busyOfExecution.keys()].join('|')})`);

/**
 * Returns the function for a frequent call; undefined for any other call. Only frequent calls are handled directly with
 * Node's request and response objects.
 */
function busyRoute(path: string, method: string): Answering | undefined {
  const exact = busy.get(path)?.[method];
  if (exact !== undefined || method !== 'PUT') return exact;
  const [, id = '', what = ''] = executionPath.exec(path) ?? [];
  const route = busyOfExecution.get(what);
  return route && ((call) => route(call, id));
}

type Route = (call: AgentCall, match: RegExpExecArray) => Promise<Response>;

/** Returns a route for a call that is answered independently of the transport. */
const answering =
  (route: Numbered): Route =>
  async (call, match) =>
    webAnswer(await route(call, match[1] ?? ''));

const routes: readonly { method: string; path: RegExp; route: Route }[] = [
  { method: 'GET', path: /^\/agent\/v1\/goal-state$/, route: answering(goalState) },
  { method: 'POST', path: /^\/agent\/v1\/reports$/, route: answering(reports) },
  { method: 'GET', path: /^\/agent\/v1\/packages\/([0-9a-f]{64})$/, route: packageBytes },
  { method: 'POST', path: /^\/agent\/v1\/enroll$/, route: enroll },
  { method: 'PUT', path: /^\/agent\/v1\/agent$/, route: agent },
  { method: 'PUT', path: /^\/agent\/v1\/certificate$/, route: certificate },
  { method: 'PUT', path: /^\/agent\/v1\/instance$/, route: instance },
  { method: 'POST', path: /^\/agent\/v1\/logs\/([A-Za-z0-9_.-]{1,64})$/, route: logs },
  { method: 'GET', path: /^\/agent\/v1\/log-requests$/, route: logRequests },
  {
    method: 'PUT',
    path: new RegExp(`^/agent/v1/log-requests/(${uuid})/archive$`),
    route: logArchive,
  },
  { method: 'GET', path: /^\/agent\/v1\/executions\/next$/, route: answering(nextExecution) },
  { method: 'PUT', path: ofExecution('progress'), route: answering(executionProgress) },
  { method: 'POST', path: ofExecution('transcript'), route: executionTranscript },
  { method: 'POST', path: ofExecution('messages'), route: executionMessages },
  { method: 'PUT', path: ofExecution('result'), route: answering(executionResult) },
  { method: 'GET', path: ofExecution('files/([^/]+)'), route: executionFile },
  { method: 'PUT', path: /^\/agent\/v1\/platforms$/, route: platforms },
  { method: 'GET', path: /^\/agent\/v1\/units$/, route: answering(unitState) },
  { method: 'GET', path: ofUnit('/settings'), route: answering(unitSettings) },
  { method: 'GET', path: ofUnit('/relations/([1-9]\\d*)/([^/]+/[^/]+)'), route: unitNode },
  { method: 'PUT', path: ofUnit(`/runs/(${uuid})`), route: unitRunPhase },
  { method: 'POST', path: ofUnit(`/runs/(${uuid})/log`), route: unitRunLog },
  { method: 'POST', path: ofUnit('/skipped'), route: answering(unitSkipped) },
  { method: 'DELETE', path: ofUnit(''), route: answering(unitRemoved) },
];

/** Paths of uploads, which may take longer than other requests. */
export const agentUploads =
  /^\/agent\/v1\/(?:logs\/[^/]+|log-requests\/[^/]+\/archive|executions\/[^/]+\/(?:transcript|result)|units\/[^/]+\/[^/]+\/runs\/[^/]+(?:\/log)?)$/;

/** What the server knows about a call besides the request. `closing` is aborted when the process starts to drain. */
export interface CallInfo {
  remoteAddress: string;
  closing?: AbortSignal;
}

/** Handles the agent API, on the gateway and on the portal. `close` releases held polls and writes pending data. */
export interface AgentHandler {
  (request: Request, info: CallInfo): Promise<Response>;
  /**
   * Handles a frequent call with Node's request and response objects. Returns false for any other call, whose request
   * it does not read.
   */
  serve(request: IncomingMessage, response: ServerResponse, arrival: Arrival): boolean;
  close(): Promise<void>;
  /** Shared state, for other entry points that agents use. */
  door: AgentDoor;
}

/** Opens the agent API: subscribes to changes and handles `/agent/v1`. */
export function createAgentHandler(services: Services & { log: Logger; clock?: Clock }): AgentHandler {
  const { log } = services;
  const door = openDoor(services);

  let draining: AbortSignal | undefined;
  const drainWith = (closing: AbortSignal): void => {
    if (closing === draining) return;
    draining = closing;
    closing.addEventListener('abort', () => door.held.release(), { once: true });
  };
  const handle = async (request: Request, { remoteAddress, closing }: CallInfo): Promise<Response> => {
    if (closing) drainWith(closing);
    const requestId = request.headers.get('x-request-id') ?? randomUUID();
    try {
      const call = webCall(door, request, remoteAddress, requestId);
      const here = routes.flatMap((entry) => {
        const match = entry.path.exec(call.path);
        return match ? [{ ...entry, match }] : [];
      });
      const found = here.find((entry) => entry.method === call.method);
      if (found) return await found.route(call, found.match);
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
  const serve: AgentHandler['serve'] = (request, response, arrival) => {
    const route = busyRoute(arrival.path, request.method ?? '');
    if (route === undefined) return false;
    drainWith(arrival.closing);
    const call = new NodeCall(door, request, response, arrival);
    try {
      const answer = route(call);
      if (answer instanceof Promise) {
        answer.then(
          (settled) => call.answer(settled),
          (error: unknown) => void call.refuse(error, log),
        );
      } else call.answer(answer);
    } catch (error) {
      void call.refuse(error, log);
    }
    return true;
  };
  return Object.assign(handle, {
    serve,
    door,
    close: async () => {
      door.held.release();
      await door.agents.close();
      await door.intake.close();
      await door.presence.close();
    },
  });
}

function openDoor(services: Services & { log: Logger; clock?: Clock }): AgentDoor {
  const { config, db, log, wakes } = services;
  const clock = services.clock ?? (() => new Date());
  const onError = (error: unknown) => log.error({ err: error }, 'agent door');
  const held = new HeldPolls();
  const most = Math.max(config.limits.rememberedAgents, config.limits.heldPolls);
  return {
    services,
    log,
    clock,
    agents: new KnownAgents({ db, wakes, clock, most, onNews: (vmId) => held.wake(vmId), onError }),
    texts: new GoalStateTexts(),
    held,
    presence: new PresenceBook(db, onError),
    intake: new ReportIntake(db, config.limits.waiting, onError),
    matchers: new MessageMatchers(db),
    refusals: new RecentRefusals(),
    perAddress: new RateLimit(5, 12, clock),
    renewals: new RateLimit(config.limits.vm.renewalsPerHour / 3_600, 3_600, clock),
  };
}

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AgentAnswer, AgentCall, AgentDoor } from '#server/agent-api/call.ts';
import type { CallInfo } from '#server/agent-api/door.ts';
import { type Arrival, NodeCall } from '#server/agent-api/node-call.ts';
import { webAnswer, webCall } from '#server/agent-api/web-call.ts';
import { DomainError, statusOfKind } from '#server/domain/error.ts';
import { problemResponse } from '#server/i18n/index.ts';
import { Guests } from './guests.ts';
import { hostPlugin } from './host-plugin.ts';
import { Refusals } from './refusals.ts';
import { emptyAnswer, wireCall } from './wire-call.ts';
import { wireServer } from './wire-server.ts';

/**
 * Handles `/wire/{vmId}/…` and `/hgap/{vmId}/…`, the entry points for stock Azure Linux agents, which call through
 * their VM's forwarder.
 */
export interface WireHandler {
  (request: Request, info: CallInfo): Promise<Response>;
  /**
   * Handles a call with Node's request and response objects, unless its request or response is streamed. Returns false
   * for a streamed call, without reading it.
   */
  serve(request: IncomingMessage, response: ServerResponse, arrival: Arrival): boolean;
}

export const isWirePath = (path: string): boolean => /^\/(?:wire|hgap)(?:\/|$)/.test(path);

/** Paths with large request bodies, which may take a long time to receive. */
export const wireUploads = /^\/hgap\/[^/]+\/vmAgentLog$/;

const place = /^\/(wire|hgap)\/([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(\/.*)?$/;
/** Paths with streamed responses or requests. */
const streams = /\/(?:packages\/[^/]*|extensionArtifact|vmAgentLog)$/;

export function createWireHandler(door: AgentDoor): WireHandler {
  const { log } = door;
  const guests = new Guests(door.agents, new Refusals(log));
  const handle = async (request: Request, { remoteAddress }: CallInfo): Promise<Response> => {
    const requestId = request.headers.get('x-request-id') ?? randomUUID();
    try {
      const answer = await answerTo(guests, webCall(door, request, remoteAddress, requestId));
      return answer instanceof Response ? answer : webAnswer(answer);
    } catch (error) {
      return isForeseen(error) ? problemResponse(error, request, requestId, log) : webAnswer(notNow(door, error));
    }
  };
  const serve: WireHandler['serve'] = (request, response, arrival) => {
    if (streams.test(arrival.path)) return false;
    const call = new NodeCall(door, request, response, arrival);
    answerTo(guests, call).then(
      (answer) => {
        if (!(answer instanceof Response)) call.answer(answer);
      },
      (error: unknown) => {
        if (isForeseen(error)) void call.refuse(error, log);
        else call.answer(notNow(door, error));
      },
    );
    return true;
  };
  return Object.assign(handle, { serve });
}

async function answerTo(guests: Guests, call: AgentCall): Promise<AgentAnswer | Response> {
  const match = place.exec(call.path);
  if (match === null) throw guests.refuse(call);
  const [, side, vmId = '', path = '/'] = match;
  const guest = await guests.admit(call, vmId.toLowerCase());
  const wire = wireCall(call, guest, path, call.query);
  return side === 'wire' ? wireServer(wire) : hostPlugin(wire);
}

const isForeseen = (error: unknown): boolean => error instanceof DomainError && statusOfKind[error.kind] < 500;

/**
 * Returns a response after which the agent retries within seconds. After 5xx, 403 or 429, it would pause for half a
 * minute.
 */
function notNow({ log }: AgentDoor, error: unknown): AgentAnswer {
  log.warn({ err: error }, 'a stock agent must retry');
  return emptyAnswer(424);
}

import { claimInstance, credentialHash, noteDuplicate } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { type AgentCall, contextOf } from './call.ts';
import { acceptCall, isJump } from './call-window.ts';
import type { KnownAgent } from './memory/agent-memory.ts';
import { takeFrom } from './rate-limit.ts';

/** An authenticated agent and the counter of its call. */
export interface Admitted {
  agent: KnownAgent;
  /** The call number in the header `Annex-Agent`; null if the agent does not send this header. */
  counter: number | null;
}

/** The contents of the header `Annex-Agent`: instance id and call counter. */
interface AgentClaim {
  instanceId: string;
  counter: number;
}

/** Parses `Annex-Agent: <instance id>; <counter>`. Returns null if it is absent or malformed. */
function readClaim(header: string | null): AgentClaim | null {
  if (header === null) return null;
  const match = /^\s*([A-Za-z0-9._:-]{1,128})\s*;\s*(\d{1,15})\s*$/.exec(header);
  return match?.[1] && match[2] ? { instanceId: match[1], counter: Number(match[2]) } : null;
}

/**
 * Authenticates an agent by its credential, limits its call rate, and checks that only one machine uses the credential.
 * Accepting a cached agent's call runs no database statement, except to store the first machine of the VM. Throws 401
 * `credential_refused`, 429 `too_many_requests`, or 409 with `duplicate_agent`, `agent_unidentified` or
 * `counter_jumped`.
 */
export function admit(call: AgentCall): Admitted | Promise<Admitted> {
  const found = findCaller(call);
  return found instanceof Promise ? found.then((agent) => letIn(call, agent)) : letIn(call, found);
}

/**
 * Checks the credential and the call rate, but not the machine. Use it only for calls that neither read nor change the
 * VM's data.
 */
export async function authenticate(call: AgentCall): Promise<KnownAgent> {
  return findCaller(call);
}

function findCaller(call: AgentCall): KnownAgent | Promise<KnownAgent> {
  const { door } = call;
  const found = door.agents.find(call.header('authorization'));
  const take = (agent: KnownAgent): KnownAgent => {
    takeFrom(agent, door.services.config.vmRate, door.clock().getTime());
    return agent;
  };
  return found instanceof Promise ? found.then(take) : take(found);
}

function letIn(call: AgentCall, agent: KnownAgent): Admitted | Promise<Admitted> {
  const claim = readClaim(call.header('annex-agent'));
  if (claim === null) {
    // An agent that has never sent the header may continue without it.
    return agent.instanceId === null ? { agent, counter: null } : reject(call, agent, 'agent_unidentified');
  }
  if (agent.instanceId !== claim.instanceId) return recognise(call, agent, claim);
  return take(call, agent, claim);
}

/** Stores the first machine of a VM. Rejects calls from any other machine. */
async function recognise(call: AgentCall, agent: KnownAgent, claim: AgentClaim): Promise<Admitted> {
  const hash = credentialHash(call.header('authorization'));
  const isFirst =
    agent.instanceId === null && hash !== null && (await claimInstance(contextOf(call, agent), hash, claim.instanceId));
  if (!isFirst) return refuse(call, agent);
  call.door.agents.forget(agent.vmId);
  return take(call, await call.door.agents.find(call.header('authorization')), claim);
}

function take(call: AgentCall, agent: KnownAgent, { counter }: AgentClaim): Admitted | Promise<Admitted> {
  const now = call.door.clock().getTime();
  const since = agent.calledAt === 0 ? null : now - agent.calledAt;
  if (isJump(agent, counter, agent.counter, since)) return reject(call, agent, 'counter_jumped');
  if (!acceptCall(agent, counter, agent.counter)) return refuse(call, agent);
  agent.calledAt = now;
  return { agent, counter };
}

async function refuse(call: AgentCall, agent: KnownAgent): Promise<never> {
  await noteDuplicate(contextOf(call, agent), agent.vmId);
  throw new DomainError('conflict', 'duplicate_agent');
}

/** Rejects a call and records it for the VM's page. */
async function reject(
  call: AgentCall,
  agent: KnownAgent,
  code: 'agent_unidentified' | 'counter_jumped',
): Promise<never> {
  await call.door.refusals.note(contextOf(call, agent), agent.vmId, code);
  throw new DomainError('conflict', code);
}

/** Records the agent's call and the time of the next expected call. */
export function noteSighting(
  call: AgentCall,
  { agent, counter }: Admitted,
  againInSeconds: number,
  hungUp = false,
): void {
  const at = call.door.clock();
  const nextExpectedAt = new Date(at.getTime() + againInSeconds * 1000);
  call.door.presence.saw({ vmId: agent.vmId, at, nextExpectedAt, counter, hungUp });
}

/**
 * Returns the headers that announce requested logs, a waiting execution and an execution that must end. Marks this news
 * as announced.
 */
export function newsHeaders(agent: KnownAgent): string[] {
  const { logRequests, newestLogRequest, executionStamp, executionTurn, cancelStamp } = agent;
  agent.announcedLogRequest = newestLogRequest;
  if (agent.hasUnannouncedExecution) agent.noteExecutionsAnnounced();
  const headers = logRequests === 0 ? [] : ['annex-log-requests', String(logRequests)];
  if (executionStamp !== 0) headers.push('annex-execution', `${executionStamp}; turn=${executionTurn}`);
  if (cancelStamp !== 0) headers.push('annex-execution-cancel', String(cancelStamp));
  return headers;
}

/** In relations of more VMs, agents look at different times. This many VMs then look per second. */
const spreadFrom = 100;
const looksPerSecond = 500;

/**
 * Returns the header `Annex-Units` with the stamp of the VM's units, for an agent that sent this header. If the stamp
 * is news, also returns when an agent in a large relation should look. Empty if the stamp is unknown, and during a
 * hold.
 */
export function unitsHeader(call: AgentCall, agent: KnownAgent): string[] {
  const known = call.header('annex-units');
  const stamp = known === null ? null : unitsStamp(call, agent);
  if (stamp === null) return [];
  const others = stamp === known?.trim() ? 0 : call.door.agents.largestRelationOf(agent.vmId);
  if (others <= spreadFrom) return ['annex-units', stamp];
  const after = (Math.random() * others) / looksPerSecond;
  return ['annex-units', stamp, 'annex-units-after', after.toFixed(3)];
}

/** Whether the units changed since the stamp that the agent sent. If so, its poll gets an immediate response. */
export function hasOtherUnits(call: AgentCall, agent: KnownAgent): boolean {
  const [, stamp = null] = unitsHeader(call, agent);
  return stamp !== null && stamp !== call.header('annex-units')?.trim();
}

function unitsStamp(call: AgentCall, agent: KnownAgent): string | null {
  const version = agent.etag === null ? null : agent.unitsVersion;
  return version === null ? null : `"${call.door.services.epoch}.${version}"`;
}

/** Whether there is news that has not been announced. If so, the agent's next poll gets an immediate response. */
export function hasUnannouncedNews(agent: KnownAgent): boolean {
  const hasRequest = agent.newestLogRequest !== null && agent.newestLogRequest !== agent.announcedLogRequest;
  return hasRequest || agent.hasUnannouncedExecution;
}

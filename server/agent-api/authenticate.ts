import { claimInstance, credentialHash, noteDuplicate } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import type { KnownAgent } from './agent-memory.ts';
import { type AgentCall, contextOf } from './call.ts';
import { acceptCall } from './call-window.ts';
import { takeFrom } from './rate-limit.ts';

/** An agent that is let in. */
export interface Admitted {
  agent: KnownAgent;
  /** Its call counter; null where it sends none. */
  counter: number | null;
}

/** What `Annex-Agent` says: which machine, and its how-manieth call. */
interface AgentClaim {
  instanceId: string;
  counter: number;
}

/** Reads `Annex-Agent: <instance id>; <counter>`. Null where the header is absent or not of that form. */
function readClaim(header: string | null): AgentClaim | null {
  if (header === null) return null;
  const match = /^\s*([A-Za-z0-9._:-]{1,128})\s*;\s*(\d{1,15})\s*$/.exec(header);
  return match?.[1] && match[2] ? { instanceId: match[1], counter: Number(match[2]) } : null;
}

/**
 * Lets an agent in: credential, rate, and that it is the one machine of its VM; at once where it is remembered. Throws
 * 401 `credential_refused`, 429 `too_many_requests`, 409 `duplicate_agent`.
 */
export function admit(call: AgentCall): Admitted | Promise<Admitted> {
  const found = call.door.agents.find(call.header('authorization'));
  return found instanceof Promise ? found.then((agent) => letIn(call, agent)) : letIn(call, found);
}

function letIn(call: AgentCall, agent: KnownAgent): Admitted | Promise<Admitted> {
  const { door } = call;
  takeFrom(agent, door.services.config.vmRate, door.clock().getTime());
  const claim = readClaim(call.header('annex-agent'));
  if (claim === null) return { agent, counter: null };
  if (agent.instanceId !== claim.instanceId) return recognise(call, agent, claim);
  return take(call, agent, claim);
}

/** The first machine that speaks for the VM is remembered; another one is refused. */
async function recognise(call: AgentCall, agent: KnownAgent, claim: AgentClaim): Promise<Admitted> {
  const hash = credentialHash(call.header('authorization'));
  const isFirst =
    agent.instanceId === null && hash !== null && (await claimInstance(contextOf(call, agent), hash, claim.instanceId));
  if (!isFirst) return refuse(call, agent);
  call.door.agents.forget(agent.vmId);
  return take(call, await call.door.agents.find(call.header('authorization')), claim);
}

function take(call: AgentCall, agent: KnownAgent, { counter }: AgentClaim): Admitted | Promise<Admitted> {
  return acceptCall(agent, counter, agent.counter) ? { agent, counter } : refuse(call, agent);
}

async function refuse(call: AgentCall, agent: KnownAgent): Promise<never> {
  await noteDuplicate(contextOf(call, agent), agent.vmId);
  throw new DomainError('conflict', 'duplicate_agent');
}

/** Notes that the agent was here and when it should be again. */
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

/** Tells an agent that operators wait for its logs. */
export function logRequestHeaders(agent: KnownAgent): string[] {
  const { logRequests, newestLogRequest } = agent;
  agent.told = newestLogRequest;
  return logRequests === 0 ? [] : ['annex-log-requests', String(logRequests)];
}

/** Whether there is a wish that it was not told of: its poll is answered at once for it, and held again afterwards. */
export function hasUntoldRequest(agent: KnownAgent): boolean {
  return agent.newestLogRequest !== null && agent.newestLogRequest !== agent.told;
}

import { claimInstance, credentialHash, noteDuplicate } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { type AgentCall, contextOf } from './call.ts';
import { acceptCall, isJump } from './call-window.ts';
import type { KnownAgent } from './memory/agent-memory.ts';
import { takeFrom } from './rate-limit.ts';

/** An agent that is let in. */
export interface Admitted {
  agent: KnownAgent;
  /** Its call counter; null where it sends none. */
  counter: number | null;
}

/** What `Annex-Agent` says: machine id and call counter. */
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
 * 401 `credential_refused`, 429 `too_many_requests`, 409 `duplicate_agent`, `agent_unidentified` or `counter_jumped`.
 */
export function admit(call: AgentCall): Admitted | Promise<Admitted> {
  const found = findCaller(call);
  return found instanceof Promise ? found.then((agent) => letIn(call, agent)) : letIn(call, found);
}

/** Whose credential it is, for calls that neither read nor change anything: the machine is not checked. */
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
    // An agent that never named its machine is served: the header is only known to be missing once it was there.
    return agent.instanceId === null ? { agent, counter: null } : reject(call, agent, 'agent_unidentified');
  }
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

/** Rejects a call and shows that on the VM's page. */
async function reject(
  call: AgentCall,
  agent: KnownAgent,
  code: 'agent_unidentified' | 'counter_jumped',
): Promise<never> {
  await call.door.refusals.note(contextOf(call, agent), agent.vmId, code);
  throw new DomainError('conflict', code);
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

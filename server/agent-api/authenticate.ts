import type { Context } from '#server/domain/context.ts';
import {
  type AgentIdentity,
  authenticateAgent,
  claimInstance,
  noteDuplicate,
} from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import type { AgentCall } from './call.ts';
import { readClaim } from './identity.ts';

/** An agent that is let in. */
export interface Admitted {
  agent: AgentIdentity;
  ctx: Context;
  counter: number | null;
}

/**
 * Lets an agent in: credential, rate, and that it is the one machine of its VM. Throws 401 `credential_refused`,
 * 429 `too_many_requests`, 409 `duplicate_agent`.
 */
export async function admit(call: AgentCall): Promise<Admitted> {
  const { door, request } = call;
  const agent = await authenticateAgent(door.services.db, request.headers.get('authorization'));
  const ctx: Context = {
    ...call.ctx,
    actor: { kind: 'agent', id: agent.vmId, name: agent.vmName, role: null, namespaces: [] },
  };
  door.perVm.take(agent.vmId);
  const claim = readClaim(request.headers.get('annex-agent'));
  if (!claim) return { agent, ctx, counter: null };

  if (agent.instanceId === null) door.identities.forget(agent.vmId);
  const first =
    agent.instanceId === claim.instanceId ||
    (agent.instanceId === null && (await claimInstance(ctx, agent.vmId, claim.instanceId)));
  if (!first || !door.identities.accept(agent.vmId, claim, agent.counter)) {
    await noteDuplicate(ctx, agent.vmId);
    throw new DomainError('conflict', 'duplicate_agent');
  }
  return { agent, ctx, counter: claim.counter };
}

/** Notes that the agent was here and when it should be again. */
export function noteSighting(call: AgentCall, admitted: Admitted, againInSeconds: number, hungUp = false): void {
  const at = call.door.clock();
  call.door.presence.saw({
    vmId: admitted.agent.vmId,
    at,
    nextExpectedAt: new Date(at.getTime() + againInSeconds * 1000),
    counter: admitted.counter,
    hungUp,
  });
}

import { renewCertificateRequest } from '#protocol/index.ts';
import { renewCertificate } from '#server/domain/enrollment/index.ts';
import { parse } from '#server/domain/parse.ts';
import { admit } from '../../authenticate.ts';
import { readJson } from '../../body.ts';
import { type AgentCall, contextOf } from '../../call.ts';
import type { KnownAgent } from '../../memory/agent-memory.ts';

/**
 * `PUT /agent/v1/certificate`: replaces the certificate of a VM's machine. The request must be signed with the old key.
 * Throws 429 above the hourly limit.
 */
export async function certificate(call: AgentCall): Promise<Response> {
  const { agent } = await admit(call);
  await refuseTooMany(call, agent);
  const request = parse(renewCertificateRequest, (await readJson(call, 64 * 1024)).value, 'bad_request');
  const answer = await renewCertificate(contextOf(call, agent), agent.vmId, request);
  call.door.agents.forget(agent.vmId);
  return Response.json(answer, { headers: { 'cache-control': 'no-store' } });
}

/** Each renewal encrypts the VM's secrets again and publishes a goal state, so renewals are limited. */
async function refuseTooMany(call: AgentCall, agent: KnownAgent): Promise<void> {
  try {
    call.door.renewals.take(agent.vmId);
  } catch (error) {
    await call.door.refusals.note(contextOf(call, agent), agent.vmId, 'renewals_exceeded');
    throw error;
  }
}

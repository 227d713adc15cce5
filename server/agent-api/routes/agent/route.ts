import { agentDescription } from '#protocol/index.ts';
import { describeAgent } from '#server/domain/enrollment/index.ts';
import { parse } from '#server/domain/parse.ts';
import { admit } from '../../authenticate.ts';
import { readJson } from '../../body.ts';
import { type AgentCall, contextOf } from '../../call.ts';

/**
 * `PUT /agent/v1/agent`: stores the name and version of the agent. The agent sends them after an update. Calls count
 * toward the hourly limit on certificate renewals; above it, throws 429.
 */
export async function agent(call: AgentCall): Promise<Response> {
  const { agent: caller } = await admit(call);
  // Each change adds an entry to the activity log, so changes are limited.
  call.door.renewals.take(caller.vmId);
  const description = parse(agentDescription, (await readJson(call, 4 * 1024)).value, 'bad_request');
  await describeAgent(contextOf(call, caller), caller.vmId, description);
  return new Response(null, { status: 204 });
}

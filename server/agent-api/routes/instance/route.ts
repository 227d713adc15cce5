import { moveInstance } from '#server/domain/topology/index.ts';
import { admit } from '../../authenticate.ts';
import { readJson } from '../../body.ts';
import { type AgentCall, contextOf } from '../../call.ts';

/** `PUT /agent/v1/instance`: stores a changed internal address of a role instance. */
export async function instance(call: AgentCall): Promise<Response> {
  const { agent } = await admit(call);
  const { value } = await readJson(call, 4 * 1024);
  await moveInstance(contextOf(call, agent), agent.vmId, value);
  return new Response(null, { status: 204 });
}

import { notePlatforms } from '#server/domain/enrollment/index.ts';
import { admit } from '../../authenticate.ts';
import { readJson } from '../../body.ts';
import { type AgentCall, contextOf } from '../../call.ts';

/** `PUT /agent/v1/platforms`: stores what the machine can run, and whether its owner allows execution plans. */
export async function platforms(call: AgentCall): Promise<Response> {
  const { agent } = await admit(call);
  const { value } = await readJson(call, 64 * 1024);
  await notePlatforms(contextOf(call, agent), agent.vmId, value);
  return new Response(null, { status: 204 });
}

import { enrollRequest } from '#protocol/index.ts';
import { enrollAgent } from '#server/domain/enrollment/index.ts';
import { parse } from '#server/domain/parse.ts';
import { replaceLostUnits } from '#server/domain/services/index.ts';
import { bindInstance } from '#server/domain/topology/index.ts';
import { household } from '#server/platform/household.ts';
import { readJson } from '../../body.ts';
import { type AgentCall, contextOf } from '../../call.ts';

/**
 * `POST /agent/v1/enroll`: enrolls a machine as the agent of a VM, given a one-time token. Attempts are limited per
 * network address.
 */
export async function enroll(call: AgentCall): Promise<Response> {
  call.door.perAddress.take(household(call.remoteAddress));
  const request = parse(enrollRequest, (await readJson(call, 64 * 1024)).value, 'bad_request');
  const answer = await enrollAgent(contextOf(call), request, bindInstance, replaceLostUnits);
  return Response.json(answer, { status: 201, headers: { 'cache-control': 'no-store' } });
}

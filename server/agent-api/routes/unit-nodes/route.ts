import { DomainError } from '#server/domain/error.ts';
import { readNode } from '#server/domain/services/index.ts';
import { admit } from '../../authenticate.ts';
import type { AgentCall } from '../../call.ts';

/**
 * `GET /agent/v1/units/{unit}/relations/{id}/{other}`: returns the settings of a unit in a relation, for a unit of this
 * VM that takes part in it. The answer is the same whether the relation, the unit or the participation does not exist.
 */
export async function unitNode(call: AgentCall, match: RegExpExecArray): Promise<Response> {
  const { agent } = await admit(call);
  const [, unit = '', relation = '', other = ''] = match;
  // A number with more digits cannot be the id of a relation.
  if (relation.length > 15) throw new DomainError('not_found', 'node_unknown');
  const node = await readNode(call.door.services, { vmId: agent.vmId, unit, relationId: Number(relation), other });
  return Response.json(node, { headers: { 'cache-control': 'no-store' } });
}

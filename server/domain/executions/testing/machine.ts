import { randomUUID } from 'node:crypto';
import { executionEnvelope } from '#protocol/executions/index.ts';
import type { Context } from '#server/domain/context.ts';
import { getExecution, queueExecution } from '#server/domain/executions/index.ts';
import { givenAgent } from '#server/testing/agent-door.ts';
import type { KeyPair } from '#server/testing/key-pair.ts';
import { examplePlan as plan, resultOf } from './example.ts';

export { examplePlan as plan, resultOf } from './example.ts';

/** The parameters of `fetch` for a call with a JSON body. */
export const putJson = (body: unknown) => ({ method: 'PUT', body: JSON.stringify(body) });

/** Creates a VM whose machine requests executions and sends their results through the agents' API. */
export async function givenMachine(admin: Context, door: { url: string }, pair?: KeyPair) {
  const agent = await givenAgent(admin, door, `plans-${randomUUID().slice(0, 8)}`, pair);
  const { vmId } = agent;
  const call = (id: string, what: string, init: RequestInit) => agent.call(`/executions/${id}/${what}`, init);
  const queue = async (given: Record<string, unknown> = plan, terms: object = {}) =>
    (await queueExecution({ ...admin, now: new Date() }, { vmId, plan: given, ...terms })).execution;
  return {
    agent,
    vmId,
    queue,
    next: async () => {
      const answer = await agent.call('/executions/next');
      return answer.status === 204 ? null : executionEnvelope.parse(await answer.json());
    },
    progress: (id: string, state = 'received', more: object = {}) =>
      call(id, 'progress', putJson({ run: 1, state, sentMsAgo: 0, ...more })),
    result: (id: string, planId = id, more: object = {}) => call(id, 'result', putJson(resultOf(planId, more))),
    transcript: (id: string, body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
      call(id, 'transcript', { method: 'POST', body, headers: { 'content-type': 'application/jsonl', ...headers } }),
    get: (executionId: string) => getExecution(admin, { vmId, executionId }),
    poll: (etag: string, wait = '') => agent.call(`/goal-state${wait}`, { headers: { 'if-none-match': etag } }),
    etag: async () => (await agent.call('/goal-state')).headers.get('etag') ?? '',
  };
}

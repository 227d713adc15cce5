import { z } from 'zod';
import { rolloutInput } from '#server/domain/rollout-rules/input.ts';
import {
  createRollout,
  type DefinitionInput,
  getRolloutPlan,
  planView,
  removeRollout,
  requestPlan,
  rolloutView,
  updateRollout,
} from '#server/domain/rollouts/index.ts';
import { type RestRoute, route } from '../route.ts';
import { inRollout, parsedByVerb } from '../shapes.ts';

const filter = z
  .record(z.string(), z.unknown())
  .describe('A filter of VMs, with the names of the query of `GET /vms`. Tags are texts such as `env=prod`.');
const definition = parsedByVerb(rolloutInput(filter));

export const waitQuery = z.object({
  wait: z.coerce
    .number()
    .min(0)
    .max(30)
    .optional()
    .describe('Seconds for which the answer is held until the rollout has another state.'),
});

/** Returns the ETag of a rollout, which `If-Match` of an edit names. */
export const etagOf = ({ revision }: { revision: number }) => ({ etag: `"${revision}"` });

const planned = z.object({
  plan: planView.nullable(),
  rollout: rolloutView,
});

export const rolloutRoutes: readonly RestRoute[] = [
  route({
    method: 'POST',
    path: '/rollouts',
    operationId: 'createRollout',
    summary:
      'Creates a rollout as a draft, which changes nothing until it is planned and started. The kind `bulk` has one ring and is meant for bulk acts.',
    role: 'operator',
    body: definition,
    answers: { 201: { meaning: 'The draft.', schema: rolloutView } },
    refusals: [404],
    run: async (ctx, { body }) => {
      const rollout = await createRollout(ctx, body as DefinitionInput);
      return { status: 201, body: rollout, headers: etagOf(rollout) };
    },
  }),
  route({
    method: 'PUT',
    path: '/rollouts/{id}',
    operationId: 'updateRollout',
    summary:
      'Replaces the definition of a rollout. `If-Match` with its revision is required. Before the start, this voids the plan and its approvals. From the start on, only names, notes, windows and lower limits can change and, while the rollout is paused, gates, higher limits and boundaries of rings that have not opened. In reverts and automatic rollouts, the selection and the change are fixed.',
    role: 'operator',
    params: inRollout,
    body: definition,
    takesIfMatch: true,
    answers: { 200: { meaning: 'The changed rollout.', schema: rolloutView } },
    refusals: [404, 409, 412],
    run: async (ctx, { params, body, ifMatch }) => {
      const rollout = await updateRollout(ctx, { ...params, revision: ifMatch, definition: body });
      return { status: 200, body: rollout, headers: etagOf(rollout) };
    },
  }),
  route({
    method: 'DELETE',
    path: '/rollouts/{id}',
    operationId: 'deleteRollout',
    summary: 'Deletes a rollout that never started.',
    role: 'operator',
    params: inRollout,
    answers: { 204: { meaning: 'The rollout was deleted.' } },
    refusals: [404, 409],
    run: async (ctx, { params }) => {
      await removeRollout(ctx, params);
      return { status: 204 };
    },
  }),
  route({
    method: 'POST',
    path: '/rollouts/{id}/plan',
    operationId: 'planRollout',
    summary:
      'Plans a rollout: what it would do to which VMs, without changing any. An earlier plan and its approvals become void. If the plan cannot be made, the rollout is a draft again, and `why` gives the reason.',
    role: 'operator',
    params: inRollout,
    query: waitQuery,
    answers: {
      200: { meaning: 'The rollout is planned, or could not be planned.', schema: planned },
      202: { meaning: 'The rollout is being planned.', schema: planned },
    },
    refusals: [404, 409],
    run: async (ctx, { params, query }) => {
      const rollout = await requestPlan(ctx, { ...params, ...query });
      const plan = rollout.plan && (await getRolloutPlan(ctx, params));
      return { status: rollout.state === 'planning' ? 202 : 200, body: { plan, rollout } };
    },
  }),
];

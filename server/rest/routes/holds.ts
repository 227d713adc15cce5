import { heldVm, holdVm, releaseHold } from '#server/domain/holds/index.ts';
import { holdTerms } from '#server/domain/holds/input.ts';
import { type RestRoute, route } from '../route.ts';
import { inVm } from '../shapes.ts';

export const holdRoutes: readonly RestRoute[] = [
  route({
    method: 'PUT',
    path: '/vms/{id}/hold',
    operationId: 'holdVm',
    summary:
      'Holds a VM: its agent gets nothing newer than it has, what runs finishes, and deadlines stand still. Replaces reason and end of a hold. Without `until` it lasts until it is released.',
    role: 'operator',
    params: inVm,
    body: holdTerms.strict(),
    takesIfMatch: true,
    answers: { 200: { meaning: 'The VM is held.', schema: heldVm } },
    refusals: [404, 412],
    run: async (ctx, { params, body, ifMatch }) => ({
      status: 200,
      body: await holdVm(ctx, { vmId: params.id, ...body, ifMatch }),
    }),
  }),
  route({
    method: 'DELETE',
    path: '/vms/{id}/hold',
    operationId: 'releaseHold',
    summary: 'Releases a VM: its agent gets the goal state in force. Changes nothing for a VM that is not held.',
    role: 'operator',
    params: inVm,
    takesIfMatch: true,
    answers: { 200: { meaning: 'The VM is not held.', schema: heldVm } },
    refusals: [404, 412],
    run: async (ctx, { params, ifMatch }) => ({
      status: 200,
      body: await releaseHold(ctx, { vmId: params.id, ifMatch }),
    }),
  }),
];

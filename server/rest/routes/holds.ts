import { hold, holdVm, releaseHold } from '#server/domain/holds/index.ts';
import { holdTerms } from '#server/domain/holds/input.ts';
import { type RestRoute, route } from '../route.ts';
import { inVm } from '../shapes.ts';

export const holdRoutes: readonly RestRoute[] = [
  route({
    method: 'PUT',
    path: '/vms/{id}/hold',
    operationId: 'holdVm',
    summary:
      'Puts a VM on hold, or changes the reason and end of its hold. During the hold, the agent gets no newer goal state, running commands are completed, and deadlines are paused. Without `until`, the hold lasts until someone releases it.',
    role: 'operator',
    params: inVm,
    body: holdTerms.strict(),
    takesIfMatch: true,
    answers: { 200: { meaning: 'The VM is on hold.', schema: hold } },
    refusals: [404, 412],
    run: async (ctx, { params, body, ifMatch }) => {
      const held = await holdVm(ctx, { vmId: params.id, ...body, ifMatch });
      return { status: 200, body: held.hold, headers: { etag: `"${held.incarnation}"` } };
    },
  }),
  route({
    method: 'DELETE',
    path: '/vms/{id}/hold',
    operationId: 'releaseHold',
    summary:
      'Releases the hold on a VM, so that its agent gets the current goal state. Changes nothing if the VM is not on hold.',
    role: 'operator',
    params: inVm,
    takesIfMatch: true,
    answers: { 204: { meaning: 'The VM is not on hold.' } },
    refusals: [404, 412],
    run: async (ctx, { params, ifMatch }) => {
      await releaseHold(ctx, { vmId: params.id, ifMatch });
      return { status: 204 };
    },
  }),
];

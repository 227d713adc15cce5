import {
  forwarderToken,
  getWireAccess,
  grantWireAccess,
  revokeWireAccess,
  rotatedTenantKey,
  rotateTenantKey,
  setHold,
  stockHold,
  wireAccess,
} from '#server/domain/stock-agents/index.ts';
import { type RestRoute, route } from '../route.ts';
import { inVm } from '../shapes.ts';

export const wireAccessRoutes: readonly RestRoute[] = [
  route({
    method: 'POST',
    path: '/vms/{id}/wire-access',
    operationId: 'grantWireAccess',
    summary:
      'Creates a token for the forwarder of a stock agent (the Azure Linux agent), invalidates the earlier token, and assigns the VM to the stock agent.',
    role: 'operator',
    params: inVm,
    answers: { 201: { meaning: 'The token, shown only once.', schema: forwarderToken } },
    refusals: [404, 409],
    run: async (ctx, { params }) => ({ status: 201, body: await grantWireAccess(ctx, { vmId: params.id }) }),
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/wire-access',
    operationId: 'getWireAccess',
    summary: 'Returns the kind of agent that a VM has, and the state of its stock agent.',
    role: 'viewer',
    params: inVm,
    answers: { 200: { meaning: 'The state.', schema: wireAccess } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await getWireAccess(ctx, { vmId: params.id }) }),
  }),
  route({
    method: 'DELETE',
    path: '/vms/{id}/wire-access',
    operationId: 'revokeWireAccess',
    summary:
      'Revokes the access of the stock agent: the forwarder token and tenant key become invalid, and another agent can enroll.',
    role: 'operator',
    params: inVm,
    answers: { 204: { meaning: 'The access was revoked.' } },
    refusals: [404],
    run: async (ctx, { params }) => {
      await revokeWireAccess(ctx, { vmId: params.id });
      return { status: 204 };
    },
  }),
  route({
    method: 'POST',
    path: '/vms/{id}/wire-access/tenant-key',
    operationId: 'rotateTenantKey',
    summary: 'Creates a new tenant key and encrypts protected settings for it. Sequence numbers stay the same.',
    role: 'operator',
    params: inVm,
    answers: {
      200: { meaning: 'The new tenant key and the new incarnation.', schema: rotatedTenantKey },
    },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await rotateTenantKey(ctx, { vmId: params.id }) }),
  }),
  route({
    method: 'PUT',
    path: '/vms/{id}/wire-access/hold',
    operationId: 'holdStockAgent',
    summary:
      'Puts the VM on hold: until the hold is released, the stock agent processes no changes and repeats its last status.',
    role: 'operator',
    params: inVm,
    answers: { 200: { meaning: 'The VM is on hold.', schema: stockHold } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await setHold(ctx, { vmId: params.id, onHold: true }) }),
  }),
  route({
    method: 'DELETE',
    path: '/vms/{id}/wire-access/hold',
    operationId: 'releaseStockAgent',
    summary: 'Releases the hold: the stock agent processes the changes made during the hold, and deadlines continue.',
    role: 'operator',
    params: inVm,
    answers: { 200: { meaning: 'The VM is not on hold.', schema: stockHold } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await setHold(ctx, { vmId: params.id, onHold: false }) }),
  }),
];

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
      'A token for the forwarder of a stock Azure Linux agent; the earlier one is void. Sets the VM to stock mode.',
    role: 'operator',
    params: inVm,
    answers: { 201: { meaning: 'The token, shown once.', schema: forwarderToken } },
    refusals: [404, 409],
    run: async (ctx, { params }) => ({ status: 201, body: await grantWireAccess(ctx, { vmId: params.id }) }),
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/wire-access',
    operationId: 'getWireAccess',
    summary: 'Which kind of agent the VM has, and how its stock agent stands.',
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
    summary: 'Ends stock mode: token and tenant key are void, and another agent may enroll.',
    role: 'operator',
    params: inVm,
    answers: { 204: { meaning: 'Ended.' } },
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
    summary: 'Another tenant key: protected settings are sealed for it anew, and no sequence number rises.',
    role: 'operator',
    params: inVm,
    answers: {
      200: { meaning: 'What is in force now.', schema: rotatedTenantKey },
    },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await rotateTenantKey(ctx, { vmId: params.id }) }),
  }),
  route({
    method: 'PUT',
    path: '/vms/{id}/wire-access/hold',
    operationId: 'holdStockAgent',
    summary: 'Puts the stock agent on hold: it processes nothing and repeats its last status, until it is released.',
    role: 'operator',
    params: inVm,
    answers: { 200: { meaning: 'It is on hold.', schema: stockHold } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await setHold(ctx, { vmId: params.id, onHold: true }) }),
  }),
  route({
    method: 'DELETE',
    path: '/vms/{id}/wire-access/hold',
    operationId: 'releaseStockAgent',
    summary: 'Releases the stock agent: what was declared meanwhile is processed, and due from now on.',
    role: 'operator',
    params: inVm,
    answers: { 200: { meaning: 'It is not on hold.', schema: stockHold } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await setHold(ctx, { vmId: params.id, onHold: false }) }),
  }),
];

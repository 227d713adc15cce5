import { z } from 'zod';
import { pageOf } from '#server/domain/answers.ts';
import { enrollment, registerVm } from '#server/domain/enrollment/index.ts';
import { registerVmInput } from '#server/domain/enrollment/input.ts';
import type { FleetFields } from '#server/domain/fleet-field.ts';
import { renewedToken, renewToken } from '#server/domain/topology/index.ts';
import { fleetRow, getVmFacts, listFleet, vmFacts } from '#server/domain/views/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { updateVm, vm } from '#server/domain/vms/index.ts';
import { updateVmInput } from '#server/domain/vms/input.ts';
import { reasonInWords } from '#server/i18n/index.ts';
import { filterOf, fleetQuery, fleetSortQuery, repeatedOf } from '../fleet-query.ts';
import { flag, pageQuery, type RestRoute, route } from '../route.ts';
import { inVm } from '../shapes.ts';

/** Returns the route of the VM list, with a query parameter for each filter field. */
export const vmListRoute = (fields: FleetFields): RestRoute =>
  route({
    method: 'GET',
    path: '/vms',
    operationId: 'listVms',
    summary:
      'Lists VMs with their health. A VM must match all filters; `q` matches part of a name, or a whole id. All filters about extensions must match the same extension. All filters about health changes must match the same change.',
    role: 'viewer',
    query: pageQuery.extend({ ...fleetQuery(fields).shape, sort: fleetSortQuery }),
    repeated: repeatedOf(fields),
    answers: { 200: { meaning: 'A page of VMs.', schema: pageOf(fleetRow) } },
    refusals: [],
    run: async (ctx, { query: { limit, cursor, sort, ...query }, reader, language }) => {
      const { items, ...page } = await listFleet(ctx, { ...filterOf(fields, query), ...reader, limit, cursor, sort });
      const rows = items.map((row) => ({ ...row, reason: reasonInWords(row.reason, language) }));
      return { status: 200, body: { items: rows, ...page } };
    },
  });

export const vmRoutes: readonly RestRoute[] = [
  route({
    method: 'POST',
    path: '/vms',
    operationId: 'createVm',
    summary: 'Creates a VM and a token with which its machine can enroll within 24 hours.',
    role: 'operator',
    body: registerVmInput.strict(),
    answers: { 201: { meaning: 'The VM and its enrollment token, which is shown only once.', schema: enrollment } },
    refusals: [409],
    run: async (ctx, { body }) => ({ status: 201, body: await registerVm(ctx, body) }),
  }),
  route({
    method: 'GET',
    path: '/vms/{id}',
    operationId: 'getVm',
    summary: 'Returns a VM.',
    role: 'viewer',
    params: inVm,
    answers: { 200: { meaning: 'The VM.', schema: vmFacts } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await getVmFacts(ctx, { vmId: params.id }) }),
  }),
  route({
    method: 'PATCH',
    path: '/vms/{id}',
    operationId: 'updateVm',
    summary: 'Changes the name or tags of a VM. Omitted fields stay unchanged.',
    role: 'operator',
    params: inVm,
    body: updateVmInput.omit({ vmId: true, seen: true }).strict(),
    answers: { 200: { meaning: 'The changed VM.', schema: vm } },
    refusals: [404, 409],
    run: async (ctx, { params, body }) => ({ status: 200, body: await updateVm(ctx, { vmId: params.id, ...body }) }),
  }),
  route({
    method: 'DELETE',
    path: '/vms/{id}',
    operationId: 'deleteVm',
    summary:
      'Deletes a VM and keeps its history under its id. With `decommission`, the extensions of the VM are uninstalled first.',
    role: 'operator',
    params: inVm,
    query: z.object({ decommission: flag }),
    answers: { 204: { meaning: 'The VM was deleted or is being decommissioned.' } },
    refusals: [404],
    run: async (ctx, { params, query }) => {
      await removeVm(ctx, { vmId: params.id, decommission: query.decommission });
      return { status: 204 };
    },
  }),
  route({
    method: 'POST',
    path: '/vms/{id}/enrollment-token',
    operationId: 'issueEnrollmentToken',
    summary:
      'Creates an enrollment token for a VM and invalidates the earlier token. If the VM is a machine of a model, the command contains its instance id and its internal address.',
    role: 'operator',
    params: inVm,
    answers: { 201: { meaning: 'The token, shown only once.', schema: renewedToken } },
    refusals: [404, 409],
    run: async (ctx, { params }) => ({ status: 201, body: await renewToken(ctx, { vmId: params.id }) }),
  }),
];

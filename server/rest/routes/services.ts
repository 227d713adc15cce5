import { z } from 'zod';
import {
  addUnits,
  getService,
  listedService,
  listServices,
  newUnit,
  releasedUnits,
  releaseServiceSecrets,
  removeService,
  resolvedHooks,
  resolveModel,
  service,
  setService,
} from '#server/domain/services/index.ts';
import { addUnitsBody, resolveModelInput, serviceBody } from '#server/domain/services/input.ts';
import { flag, type RestRoute, route } from '../route.ts';
import { inModel, inService } from '../shapes.ts';

const declared = service.extend({ newUnits: z.array(newUnit).describe('The units that the request added.') });
const secretHeaders = { 'cache-control': 'no-store' };

export const serviceRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/models/{model}/services',
    operationId: 'listServices',
    summary: 'Lists the services of a model.',
    role: 'viewer',
    params: inModel,
    answers: {
      200: { meaning: 'The services.', schema: z.object({ items: z.array(listedService), nextCursor: z.null() }) },
    },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: { ...(await listServices(ctx, params)), nextCursor: null } }),
  }),
  route({
    method: 'PUT',
    path: '/models/{model}/services/{service}',
    operationId: 'setService',
    summary:
      'Deploys a service from a formula with its units, or changes it. Omitted fields keep their values, and an identical request changes nothing. Units that have started get other settings or another version one after the other. If the provider fails for a unit, that unit is rolled back (`provider_failed`), and the units before it are kept.',
    role: 'operator',
    params: inService,
    body: serviceBody,
    takesIfMatch: true,
    answers: { 200: { meaning: 'The service, with the enrollment commands of new machines.', schema: declared } },
    refusals: [404, 409, 412],
    run: async (ctx, { params, body, ifMatch }) => ({
      status: 200,
      body: await setService(ctx, { ...params, ...body, ifMatch }),
      headers: secretHeaders,
    }),
  }),
  route({
    method: 'GET',
    path: '/models/{model}/services/{service}',
    operationId: 'getService',
    summary: 'Returns a service with its units. Only operators see the values of its settings.',
    role: 'viewer',
    params: inService,
    answers: { 200: { meaning: 'The service.', schema: service } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await getService(ctx, params) }),
  }),
  route({
    method: 'DELETE',
    path: '/models/{model}/services/{service}',
    operationId: 'removeService',
    summary:
      'Begins to remove a service with its relations and units. Units run their last hooks first, unless `force=true` removes them without their agents.',
    role: 'operator',
    params: inService,
    query: z.object({ force: flag }),
    takesIfMatch: true,
    answers: { 202: { meaning: 'The service is being removed, or is removed.' } },
    refusals: [404, 412],
    run: async (ctx, { params, query, ifMatch }) => {
      await removeService(ctx, { ...params, ...query, ifMatch });
      return { status: 202 };
    },
  }),
  route({
    method: 'POST',
    path: '/models/{model}/services/{service}/units',
    operationId: 'addUnits',
    summary:
      'Adds units to a service: on the machine `to`, or each on a new machine. In a model with availability sets, they share the cloud service of the service’s other units. With `slot` `staging`, they are in its Staging deployment, and all units there get `version` of the formula.',
    role: 'operator',
    params: inService,
    body: addUnitsBody,
    takesIfMatch: true,
    answers: {
      201: {
        meaning: 'The units, with the enrollment commands of new machines.',
        schema: z.object({ units: z.array(newUnit) }),
      },
    },
    refusals: [404, 409, 412],
    run: async (ctx, { params, body, ifMatch }) => ({
      status: 201,
      body: await addUnits(ctx, { ...params, ...body, ifMatch }),
      headers: secretHeaders,
    }),
  }),
  route({
    method: 'POST',
    path: '/models/{model}/services/{service}/release',
    operationId: 'releaseServiceSecrets',
    summary:
      'Releases the protected settings of a service to the machines of all units that wait for them (`needsRelease`).',
    role: 'admin',
    params: inService,
    answers: { 200: { meaning: 'The units that waited.', schema: releasedUnits } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await releaseServiceSecrets(ctx, params) }),
  }),
  route({
    method: 'POST',
    path: '/models/{model}/resolve',
    operationId: 'resolveModel',
    summary:
      'Decides on all hooks that fail in a model, or in one of its services: with `retry`, they run again now; otherwise the units skip them.',
    role: 'operator',
    params: inModel,
    body: resolveModelInput.omit({ model: true }).strict(),
    answers: { 200: { meaning: 'The hooks that were decided on.', schema: resolvedHooks } },
    refusals: [404],
    run: async (ctx, { params, body }) => ({ status: 200, body: await resolveModel(ctx, { ...params, ...body }) }),
  }),
];

import { z } from 'zod';
import { destroyModel } from '#server/domain/services/index.ts';
import {
  bootstrapModel,
  changeModel,
  createModel,
  deleteStorageAccount,
  getModel,
  getTopology,
  listStorageAccounts,
  model,
  newMachine,
  setStorageAccount,
  storageAccount,
  topology,
} from '#server/domain/topology/index.ts';
import {
  bootstrapModelInput,
  changeModelInput,
  createModelInput,
  setStorageAccountInput,
} from '#server/domain/topology/input.ts';
import { listCountedModels } from '#server/domain/views/index.ts';
import { flag, type RestRoute, route } from '../route.ts';
import { inModel } from '../shapes.ts';
import { etagOf } from './rollouts.ts';

const bootstrapped = model.omit({ health: true, services: true, units: true }).extend({
  newMachines: z.array(newMachine).describe('The controllers that the bootstrap created.'),
});

export const modelRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/storage-accounts',
    operationId: 'listStorageAccounts',
    summary: 'Lists the storage accounts.',
    role: 'viewer',
    answers: {
      200: {
        meaning: 'The storage accounts.',
        schema: z.object({ items: z.array(storageAccount), nextCursor: z.null() }),
      },
    },
    refusals: [],
    run: async (ctx) => ({ status: 200, body: { ...(await listStorageAccounts(ctx)), nextCursor: null } }),
  }),
  route({
    method: 'PUT',
    path: '/storage-accounts/{name}',
    operationId: 'setStorageAccount',
    summary: 'Creates a storage account, which a model needs for its bootstrap. An identical request changes nothing.',
    role: 'admin',
    params: z.object({ name: z.string().max(100) }),
    body: setStorageAccountInput.omit({ name: true }).strict(),
    answers: {
      200: { meaning: 'The storage account exists.', schema: storageAccount },
      201: { meaning: 'The storage account is new.', schema: storageAccount },
    },
    refusals: [409],
    run: async (ctx, { params, body }) => {
      const { account, isNew } = await setStorageAccount(ctx, { ...params, ...body });
      return { status: isNew ? 201 : 200, body: account };
    },
  }),
  route({
    method: 'DELETE',
    path: '/storage-accounts/{name}',
    operationId: 'deleteStorageAccount',
    summary: 'Deletes a storage account that no model uses.',
    role: 'admin',
    params: z.object({ name: z.string().max(100) }),
    answers: { 204: { meaning: 'The storage account was deleted.' } },
    refusals: [404, 409],
    run: async (ctx, { params }) => {
      await deleteStorageAccount(ctx, params);
      return { status: 204 };
    },
  }),
  route({
    method: 'GET',
    path: '/models',
    operationId: 'listModels',
    summary:
      'Lists the models, including those that are being destroyed, with their services, and the health of their machines and units.',
    role: 'viewer',
    answers: {
      200: { meaning: 'The models.', schema: z.object({ items: z.array(model), nextCursor: z.null() }) },
    },
    refusals: [],
    run: async (ctx) => ({ status: 200, body: { ...(await listCountedModels(ctx)), nextCursor: null } }),
  }),
  route({
    method: 'POST',
    path: '/models',
    operationId: 'createModel',
    summary: 'Creates a model. It has no network and no machines until its bootstrap.',
    role: 'operator',
    body: createModelInput.strict(),
    answers: { 201: { meaning: 'The model.', schema: model } },
    refusals: [409],
    run: async (ctx, { body }) => {
      const created = await createModel(ctx, body);
      return { status: 201, body: created, headers: etagOf(created) };
    },
  }),
  route({
    method: 'GET',
    path: '/models/{model}',
    operationId: 'getModel',
    summary: 'Returns a model.',
    role: 'viewer',
    params: inModel,
    answers: { 200: { meaning: 'The model.', schema: model } },
    refusals: [404],
    run: async (ctx, { params }) => {
      const found = await getModel(ctx, params);
      return { status: 200, body: found, headers: etagOf(found) };
    },
  }),
  route({
    method: 'PATCH',
    path: '/models/{model}',
    operationId: 'changeModel',
    summary:
      'Changes whether a model uses availability sets. After the bootstrap, only the current value is accepted (`availability_sets_frozen`).',
    role: 'operator',
    params: inModel,
    body: changeModelInput.pick({ availabilitySetsEnabled: true }).strict(),
    takesIfMatch: true,
    answers: { 200: { meaning: 'The model.', schema: model } },
    refusals: [404, 409, 412],
    run: async (ctx, { params, body, ifMatch }) => {
      const changed = await changeModel(ctx, { ...params, ...body, ifMatch });
      return { status: 200, body: changed, headers: etagOf(changed) };
    },
  }),
  route({
    method: 'POST',
    path: '/models/{model}/bootstrap',
    operationId: 'bootstrapModel',
    summary:
      'Bootstraps a model: creates its affinity group, its network and the requested controllers. If a step fails, what the bootstrap created is deleted (`provider_failed`).',
    role: 'operator',
    params: inModel,
    body: bootstrapModelInput.pick({ controllers: true }).strict(),
    takesIfMatch: true,
    answers: { 200: { meaning: 'The bootstrapped model.', schema: bootstrapped } },
    refusals: [404, 409, 412],
    run: async (ctx, { params, body, ifMatch }) => {
      const done = await bootstrapModel(ctx, { ...params, ...body, ifMatch });
      return { status: 200, body: done, headers: { ...etagOf(done), 'cache-control': 'no-store' } };
    },
  }),
  route({
    method: 'DELETE',
    path: '/models/{model}',
    operationId: 'destroyModel',
    summary:
      'Begins to destroy a model: its machines, cloud services, network, affinity group and, last, what it keeps in its storage account. `confirm` must be the name of the model. With `force=true`, machines are deleted without uninstalling their extensions.',
    role: 'operator',
    params: inModel,
    query: z.object({ confirm: z.string().max(100).optional(), force: flag }),
    takesIfMatch: true,
    answers: { 202: { meaning: 'The model is being destroyed.', schema: model } },
    refusals: [404, 409, 412],
    run: async (ctx, { params, query, ifMatch }) => ({
      status: 202,
      body: await destroyModel(ctx, { ...params, ...query, ifMatch }),
    }),
  }),
  route({
    method: 'GET',
    path: '/models/{model}/topology',
    operationId: 'getTopology',
    summary: 'Returns the cloud services of a model, with their deployments, roles and endpoints.',
    role: 'viewer',
    params: inModel,
    answers: { 200: { meaning: 'The cloud services.', schema: topology } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await getTopology(ctx, params) }),
  }),
];

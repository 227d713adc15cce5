import { z } from 'zod';
import {
  appliedDocument,
  applyDocument,
  documentLimits,
  documentPlan,
  formatDocument,
  getDocument,
  planDocument,
} from '#server/domain/services/index.ts';
import { flag, type RestRoute, route } from '../route.ts';
import { inModel } from '../shapes.ts';
import { etagOf } from './rollouts.ts';

const yaml = 'application/yaml';
const json = 'application/json';
const takesFile = {
  types: [yaml, json, 'application/x-yaml', 'text/yaml', 'text/x-yaml', 'text/plain'],
  bytes: () => documentLimits.bytes,
};
const prune = flag.describe('Whether what the document leaves out is removed.');

export const documentRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/models/{model}/document',
    operationId: 'getModelDocument',
    summary:
      'Returns a model as one document, in YAML, or in JSON by `Accept`: sorted, without ids, times, secrets and defaults. Applied to the same model, it changes nothing.',
    role: 'operator',
    params: inModel,
    negotiates: [yaml, json],
    answers: { 200: { meaning: 'The document.', types: [yaml, json] } },
    refusals: [404, 406],
    run: async (ctx, { params, type }) => {
      const { document, revision } = await getDocument(ctx, params);
      return {
        status: 200,
        text: type === json ? JSON.stringify(document, null, 2) : formatDocument(document),
        headers: { 'content-type': type ?? yaml, vary: 'Accept', ...etagOf({ revision }) },
      };
    },
  }),
  route({
    method: 'POST',
    path: '/models/{model}/plan',
    operationId: 'planModelDocument',
    summary:
      'Shows what applying a document in YAML or JSON would do, without writing anything: acts, machines to enroll, hooks that would run on each unit, and what the document leaves out. A model that does not exist would be created.',
    role: 'operator',
    params: inModel,
    query: z.object({ prune }),
    takesFile,
    answers: { 200: { meaning: 'The plan.', schema: documentPlan } },
    refusals: [409, 412, 422],
    run: async (ctx, { params, query, file }) => ({
      status: 200,
      body: await planDocument(ctx, { ...params, ...query, document: file }),
    }),
  }),
  route({
    method: 'PUT',
    path: '/models/{model}/document',
    operationId: 'applyModelDocument',
    summary:
      'Applies a document in YAML or JSON: everything in one transaction, or nothing. Without `prune`, nothing is removed. With `plan`, the request is rejected unless its effect is that of the plan (`plan_moved_on`). If the provider fails for a machine (`provider_failed`), the next plan contains its units.',
    role: 'operator',
    params: inModel,
    query: z.object({ prune, plan: z.string().min(1).max(100).optional() }),
    takesFile,
    answers: { 200: { meaning: 'What the apply did, with the commands of new machines.', schema: appliedDocument } },
    refusals: [409, 412, 422],
    run: async (ctx, { params, query, file }) => ({
      status: 200,
      body: await applyDocument(ctx, { ...params, ...query, document: file }),
      headers: { 'cache-control': 'no-store' },
    }),
  }),
];

import { z } from 'zod';
import { isServiceName } from '#protocol/unit-names.ts';
import {
  addRelation,
  addRelationInput,
  getRelation,
  getRelationSettings,
  listNodes,
  listRelationEvents,
  listRelations,
  listSeen,
  nodeReaders,
  relation,
  relationEvents,
  relationNodes,
  relationSettings,
  relationSettingsInput,
  removeRelation,
  revealedNode,
  revealNode,
} from '#server/domain/services/index.ts';
import { pageQuery, type RestRoute, route } from '../route.ts';
import { inModel } from '../shapes.ts';

const inRelation = inModel.extend({
  number: z
    .string()
    .regex(/^[1-9]\d{0,9}$/, { abort: true })
    .transform(Number)
    .pipe(z.number().max(2 ** 31 - 1)),
});
const inNode = inRelation.extend({
  service: z.string().refine(isServiceName),
  unit: z.string().regex(/^(?:0|[1-9]\d{0,9})$/),
});
const at = relationSettingsInput.pick({ at: true });

const unitOf = ({ service, unit, ...rest }: z.output<typeof inNode>) => ({ ...rest, unit: `${service}/${unit}` });

export const relationRoutes: readonly RestRoute[] = [
  route({
    method: 'POST',
    path: '/models/{model}/relations',
    operationId: 'addRelation',
    summary:
      'Relates two services of a model, such as `["wordpress", "mysql:db"]`. An omitted endpoint is found if exactly one pair matches. Units that have started enter the relation.',
    role: 'operator',
    params: inModel,
    body: addRelationInput.pick({ endpoints: true }).strict(),
    takesIfMatch: true,
    answers: { 201: { meaning: 'The relation.', schema: relation } },
    refusals: [404, 409, 412],
    run: async (ctx, { params, body, ifMatch }) => ({
      status: 201,
      body: await addRelation(ctx, { ...params, ...body, ifMatch }),
    }),
  }),
  route({
    method: 'GET',
    path: '/models/{model}/relations',
    operationId: 'listRelations',
    summary: 'Lists the relations of a model that have not ended.',
    role: 'viewer',
    params: inModel,
    answers: {
      200: { meaning: 'The relations.', schema: z.object({ items: z.array(relation), nextCursor: z.null() }) },
    },
    refusals: [404],
    run: async (ctx, { params }) => ({
      status: 200,
      body: { ...(await listRelations(ctx, params)), nextCursor: null },
    }),
  }),
  route({
    method: 'GET',
    path: '/models/{model}/relations/{number}',
    operationId: 'getRelation',
    summary: 'Returns a relation, even after it has ended.',
    role: 'viewer',
    params: inRelation,
    answers: { 200: { meaning: 'The relation.', schema: relation } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await getRelation(ctx, params) }),
  }),
  route({
    method: 'DELETE',
    path: '/models/{model}/relations/{number}',
    operationId: 'removeRelation',
    summary:
      'Begins to end a relation. Its units run their hooks `departed` and `broken`; the relation ends with the last of them.',
    role: 'operator',
    params: inRelation,
    takesIfMatch: true,
    answers: { 202: { meaning: 'The relation, which is ending or has ended.', schema: relation } },
    refusals: [404, 409, 412],
    run: async (ctx, { params, ifMatch }) => ({
      status: 202,
      body: await removeRelation(ctx, { ...params, ifMatch }),
    }),
  }),
  route({
    method: 'GET',
    path: '/models/{model}/relations/{number}/nodes',
    operationId: 'listRelationNodes',
    summary:
      'Lists the keys of all units’ settings in a relation, with sizes, versions and writers, now or at a value of the relation’s clock or a time.',
    role: 'viewer',
    params: inRelation,
    query: at,
    answers: { 200: { meaning: 'The settings without values.', schema: relationNodes } },
    refusals: [404],
    run: async (ctx, { params, query }) => ({ status: 200, body: await listNodes(ctx, { ...params, ...query }) }),
  }),
  route({
    method: 'GET',
    path: '/models/{model}/relations/{number}/settings',
    operationId: 'getRelationSettings',
    summary:
      'Returns all units’ settings in a relation, now or at a value of the relation’s clock or a time. Values of masked keys are left out.',
    role: 'operator',
    params: inRelation,
    query: at,
    answers: { 200: { meaning: 'The settings.', schema: relationSettings } },
    refusals: [404],
    run: async (ctx, { params, query }) => ({
      status: 200,
      body: await getRelationSettings(ctx, { ...params, ...query }),
    }),
  }),
  route({
    method: 'GET',
    path: '/models/{model}/relations/{number}/nodes/{service}/{unit}/readers',
    operationId: 'listNodeReaders',
    summary: 'Lists which units have confirmed the current settings of a unit, and why others have not.',
    role: 'viewer',
    params: inNode,
    answers: { 200: { meaning: 'The units that read the settings.', schema: nodeReaders } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await listSeen(ctx, unitOf(params)) }),
  }),
  route({
    method: 'POST',
    path: '/models/{model}/relations/{number}/nodes/{service}/{unit}/reveal',
    operationId: 'revealNode',
    summary: 'Returns the settings of one unit with the values of masked keys. The activity log records the call.',
    role: 'operator',
    params: inNode,
    body: at.strict(),
    answers: { 200: { meaning: 'The settings.', schema: revealedNode } },
    refusals: [404],
    run: async (ctx, { params, body }) => ({
      status: 200,
      body: await revealNode(ctx, { ...unitOf(params), ...body }),
    }),
  }),
  route({
    method: 'GET',
    path: '/models/{model}/relations/{number}/log',
    operationId: 'listRelationEvents',
    summary:
      'Lists the joins, changes and departures of a relation, newest first. Only operators see values, and never those of masked keys.',
    role: 'viewer',
    params: inRelation,
    query: pageQuery.omit({ q: true }),
    answers: { 200: { meaning: 'The events.', schema: relationEvents } },
    refusals: [404],
    run: async (ctx, { params, query }) => ({
      status: 200,
      body: await listRelationEvents(ctx, { ...params, ...query }),
    }),
  }),
];

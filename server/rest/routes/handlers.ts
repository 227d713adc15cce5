import type { PackageKind } from '#protocol/formula-words.ts';
import { pageOf } from '#server/domain/answers.ts';
import { getHandler, handlerDetails, handlerSummary, listHandlers } from '#server/domain/packages/index.ts';
import { pageQuery, type RestRoute, route } from '../route.ts';
import { inHandler } from '../shapes.ts';

/** Returns the routes that list the handlers, or the formulas, and return one of them. */
export const handlerRoutesOf = (kind: PackageKind): readonly RestRoute[] => [
  route({
    method: 'GET',
    path: '/handlers',
    operationId: 'listHandlers',
    summary: 'Lists handlers by id. `q` matches part of an id or of a publisher’s name.',
    role: 'viewer',
    query: pageQuery,
    answers: { 200: { meaning: 'A page of handlers.', schema: pageOf(handlerSummary) } },
    refusals: [],
    run: async (ctx, { query }) => ({ status: 200, body: await listHandlers(ctx, { ...query, kind }) }),
  }),
  route({
    method: 'GET',
    path: '/handlers/{handler}',
    operationId: 'getHandler',
    summary: 'Returns a handler with its versions, highest first.',
    role: 'viewer',
    params: inHandler,
    answers: { 200: { meaning: 'The handler.', schema: handlerDetails } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await getHandler(ctx, params) }),
  }),
];

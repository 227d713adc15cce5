import { z } from 'zod';
import { getHandler, listHandlers } from '#server/domain/packages/index.ts';
import { pageOf, pageQuery, type Route, route } from '../route.ts';
import { count, inHandler, sha256, time } from '../shapes.ts';

const handlerHead = z.object({ handler: z.string(), namespace: z.string(), type: z.string(), publisher: z.string() });

const handlerSummary = handlerHead.extend({
  latestVersion: z.string().nullable(),
  versions: z.object({ draft: count, published: count, withdrawn: count }),
  changedAt: time,
});

const handlerDetails = handlerHead.extend({
  createdAt: time,
  versions: z.array(
    z.object({
      version: z.string(),
      state: z.enum(['draft', 'published', 'withdrawn']),
      sha256,
      size: count,
      createdAt: time,
      createdBy: z.string(),
      publishedAt: time.nullable(),
      withdrawnAt: time.nullable(),
      withdrawnReason: z.string().nullable(),
    }),
  ),
});

export const handlerRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/handlers',
    operationId: 'listHandlers',
    summary: 'Handlers by id; `q` is part of an id or of a publisher’s name.',
    role: 'viewer',
    query: pageQuery,
    answers: { 200: { meaning: 'A page of handlers.', schema: pageOf(handlerSummary) } },
    refusals: [],
    run: async (ctx, { query }) => ({ status: 200, body: await listHandlers(ctx, query) }),
  }),
  route({
    method: 'GET',
    path: '/handlers/{handler}',
    operationId: 'getHandler',
    summary: 'A handler with its versions, the highest first.',
    role: 'viewer',
    params: inHandler,
    answers: { 200: { meaning: 'The handler.', schema: handlerDetails } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await getHandler(ctx, params) }),
  }),
];

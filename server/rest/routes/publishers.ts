import { pageOf } from '#server/domain/answers.ts';
import { createPublisher, createPublisherInput, listPublishers, publisher } from '#server/domain/publishers/index.ts';
import { pageQuery, type RestRoute, route } from '../route.ts';

export const publisherRoutes: readonly RestRoute[] = [
  route({
    method: 'POST',
    path: '/publishers',
    operationId: 'createPublisher',
    summary: 'Creates a publisher with its namespace.',
    role: 'admin',
    body: createPublisherInput.strict(),
    answers: { 201: { meaning: 'The publisher.', schema: publisher } },
    refusals: [409],
    run: async (ctx, { body }) => ({ status: 201, body: await createPublisher(ctx, body) }),
  }),
  route({
    method: 'GET',
    path: '/publishers',
    operationId: 'listPublishers',
    summary: 'Lists publishers by namespace. `q` matches part of a namespace or name.',
    role: 'viewer',
    query: pageQuery,
    answers: { 200: { meaning: 'A page of publishers.', schema: pageOf(publisher) } },
    refusals: [],
    run: async (ctx, { query }) => ({ status: 200, body: await listPublishers(ctx, query) }),
  }),
];

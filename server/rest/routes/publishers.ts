import { z } from 'zod';
import { createPublisher, createPublisherInput, listPublishers } from '#server/domain/publishers/index.ts';
import { pageOf, pageQuery, type Route, route } from '../route.ts';
import { time } from '../shapes.ts';

const publisher = z.object({ namespace: z.string(), displayName: z.string(), createdAt: time });

export const publisherRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/publishers',
    operationId: 'createPublisher',
    summary: 'Makes a provider namespace.',
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
    summary: 'Publishers by namespace; `q` is part of a namespace or name.',
    role: 'viewer',
    query: pageQuery,
    answers: { 200: { meaning: 'A page of publishers.', schema: pageOf(publisher) } },
    refusals: [],
    run: async (ctx, { query }) => ({ status: 200, body: await listPublishers(ctx, query) }),
  }),
];

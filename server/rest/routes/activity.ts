import { z } from 'zod';
import { negotiate } from '#protocol/index.ts';
import { feedItemOf, feedPage, listFeed } from '#server/domain/views/activity/index.ts';
import { activityFilter } from '#server/domain/views/input.ts';
import { pageQuery, type RestRoute, route } from '../route.ts';

const { vmId, actor, action, target, q, from, to } = activityFilter.shape;

export const activityRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/activity',
    operationId: 'listActivity',
    summary:
      'Lists actions and health events of the fleet, newest first. `kind=people` selects the actions of people and their API tokens. `kind=fleet` selects the health events, the actions of agents and of the portal, and actions of people that affect the whole fleet. Similar actions within ten minutes form one item, and so do events of one kind within a minute.',
    role: 'viewer',
    query: pageQuery.extend({
      ...{ vmId, actor, action, target, q, from, to },
      kind: z.enum(['people', 'fleet', 'all']).optional(),
    }),
    answers: { 200: { meaning: 'A page of the activity.', schema: feedPage } },
    refusals: [],
    run: async (ctx, { query: { kind, ...query }, reader }) => {
      const { items, nextCursor } = await listFeed(
        ctx,
        { ...query, ...(kind !== 'all' && { kind }) },
        negotiate(reader),
      );
      return { status: 200, body: { items: items.map(feedItemOf), nextCursor } };
    },
  }),
];

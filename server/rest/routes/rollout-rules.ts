import { z } from 'zod';
import { rolloutRulesInput, strategyInput } from '#server/domain/rollout-rules/input.ts';
import {
  getRolloutRules,
  listStrategies,
  removeStrategy,
  rolloutRulesView,
  setRolloutRules,
  setStrategy,
  strategyView,
} from '#server/domain/rollouts/index.ts';
import { type RestRoute, route } from '../route.ts';
import { inStrategy, parsedByVerb } from '../shapes.ts';

const strategy = parsedByVerb(strategyInput(z.record(z.string(), z.unknown())));

export const rolloutRuleRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/rollout-strategies',
    operationId: 'listRolloutStrategies',
    summary: 'Lists the built-in and the saved strategies: rings, limits and gates that rollouts can use.',
    role: 'viewer',
    answers: {
      200: { meaning: 'The strategies.', schema: z.object({ items: z.array(strategyView), nextCursor: z.null() }) },
    },
    refusals: [],
    run: async (ctx) => ({ status: 200, body: { ...(await listStrategies(ctx)), nextCursor: null } }),
  }),
  route({
    method: 'PUT',
    path: '/rollout-strategies/{name}',
    operationId: 'setRolloutStrategy',
    summary:
      'Saves a strategy. `automaticFor`, for admins, names the handlers whose automatic upgrades use it; `*` is every other handler. The rings and gates of a built-in strategy cannot change.',
    role: 'operator',
    params: inStrategy,
    body: strategy,
    answers: { 200: { meaning: 'The strategy.', schema: strategyView } },
    refusals: [404, 409],
    run: async (ctx, { params, body }) => ({ status: 200, body: await setStrategy(ctx, { ...params, ...body }) }),
  }),
  route({
    method: 'DELETE',
    path: '/rollout-strategies/{name}',
    operationId: 'deleteRolloutStrategy',
    summary: 'Deletes a saved strategy. Rollouts that used it keep their rings.',
    role: 'operator',
    params: inStrategy,
    answers: { 204: { meaning: 'The strategy was deleted.' } },
    refusals: [404, 409],
    run: async (ctx, { params }) => {
      await removeStrategy(ctx, params);
      return { status: 204 };
    },
  }),
  route({
    method: 'GET',
    path: '/rollout-rules',
    operationId: 'getRolloutRules',
    summary: 'Returns the rules for all rollouts: rates, approval and freezes.',
    role: 'viewer',
    answers: { 200: { meaning: 'The rules.', schema: rolloutRulesView } },
    refusals: [],
    run: async (ctx) => ({ status: 200, body: await getRolloutRules(ctx) }),
  }),
  route({
    method: 'PUT',
    path: '/rollout-rules',
    operationId: 'setRolloutRules',
    summary: 'Sets the rules for all rollouts. Open rollouts follow them immediately.',
    role: 'admin',
    body: rolloutRulesInput,
    answers: { 200: { meaning: 'The rules.', schema: rolloutRulesView } },
    refusals: [],
    run: async (ctx, { body }) => ({ status: 200, body: await setRolloutRules(ctx, body) }),
  }),
];

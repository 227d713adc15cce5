import { z } from 'zod';
import { pageOf } from '#server/domain/answers.ts';
import { memberKinds, rolloutKinds, rolloutStates, stepStates } from '#server/domain/rollout-rules/words.ts';
import {
  automaticOfHandler,
  automaticUpgrades,
  curvePoint,
  getCurve,
  getRollout,
  getRolloutPlan,
  listPlanVms,
  listRolloutSteps,
  listRollouts,
  listRolloutsOfVm,
  membershipView,
  planView,
  planVm,
  rolloutRow,
  rolloutView,
  stepView,
  versionExplanation,
  whyThisVersion,
} from '#server/domain/rollouts/index.ts';
import { causesInput, groupKey, rolloutFilter } from '#server/domain/rollouts/input.ts';
import { listRolloutCauses, rolloutCause } from '#server/domain/views/index.ts';
import { pageQuery, type RestRoute, route } from '../route.ts';
import { inExtension, inHandler, inRollout, inVm } from '../shapes.ts';
import { etagOf, waitQuery } from './rollouts.ts';

/** A query parameter with one or more of these words, separated by commas. */
const wordsQuery = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z
    .string()
    .max(200)
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(words)))
    .optional()
    .describe(`One or more of ${words.join(', ')}, separated by commas.`);

const page = pageQuery.omit({ q: true });
const ringQuery = z.coerce.number().int().min(0).max(19).optional().describe('Index of the ring, from 0.');

export const rolloutReadRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/rollouts',
    operationId: 'listRollouts',
    summary: 'Lists rollouts, newest first. With `sort=open`, rollouts that have not ended come first.',
    role: 'viewer',
    query: pageQuery.extend({
      state: wordsQuery(rolloutStates),
      kind: wordsQuery(rolloutKinds),
      ...rolloutFilter.pick({ handler: true, of: true, sort: true }).shape,
    }),
    answers: { 200: { meaning: 'A page of rollouts.', schema: pageOf(rolloutRow) } },
    refusals: [],
    run: async (ctx, { query }) => ({ status: 200, body: await listRollouts(ctx, query) }),
  }),
  route({
    method: 'GET',
    path: '/rollouts/{id}',
    operationId: 'getRollout',
    summary:
      'Returns a rollout with its rings, counts and reasons. Viewers get its definition without settings; protected settings are never returned.',
    role: 'viewer',
    params: inRollout,
    query: waitQuery,
    answers: { 200: { meaning: 'The rollout.', schema: rolloutView } },
    refusals: [404],
    run: async (ctx, { params, query }) => {
      const rollout = await getRollout(ctx, { ...params, ...query });
      return { status: 200, body: rollout, headers: etagOf(rollout) };
    },
  }),
  route({
    method: 'GET',
    path: '/rollouts/{id}/plan',
    operationId: 'getRolloutPlan',
    summary: 'Returns the plan of a rollout. Its hash is what starting and approving the rollout name.',
    role: 'operator',
    params: inRollout,
    answers: { 200: { meaning: 'The plan.', schema: planView } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await getRolloutPlan(ctx, params) }),
  }),
  route({
    method: 'GET',
    path: '/rollouts/{id}/plan/vms',
    operationId: 'listRolloutPlanVms',
    summary: 'Lists the VMs of a plan in the order in which the rollout takes them.',
    role: 'operator',
    params: inRollout,
    query: page.extend({ ring: ringQuery, kind: z.enum(memberKinds).optional() }),
    answers: { 200: { meaning: 'A page of VMs.', schema: pageOf(planVm) } },
    refusals: [404],
    run: async (ctx, { params, query }) => ({ status: 200, body: await listPlanVms(ctx, { ...params, ...query }) }),
  }),
  route({
    method: 'GET',
    path: '/rollouts/{id}/steps',
    operationId: 'listRolloutSteps',
    summary: 'Lists the VMs that the rollout reached, parked or skipped, in order.',
    role: 'viewer',
    params: inRollout,
    query: page.extend({
      ring: ringQuery,
      state: wordsQuery(stepStates),
      cause: z.string().max(200).optional(),
      group: groupKey.optional().describe('Key of a group of `GET /rollouts/{id}/causes`.'),
    }),
    answers: { 200: { meaning: 'A page of steps.', schema: pageOf(stepView) } },
    refusals: [404],
    run: async (ctx, { params, query }) => ({
      status: 200,
      body: await listRolloutSteps(ctx, { ...params, ...query }),
    }),
  }),
  route({
    method: 'GET',
    path: '/rollouts/{id}/causes',
    operationId: 'listRolloutCauses',
    summary:
      'Groups all members that failed, or are parked, by cause, the largest group first, with messages in the language of Accept-Language.',
    role: 'viewer',
    params: inRollout,
    query: causesInput.pick({ of: true }),
    answers: {
      200: { meaning: 'The groups.', schema: z.object({ items: z.array(rolloutCause), nextCursor: z.null() }) },
    },
    refusals: [404],
    run: async (ctx, { params, query, reader }) => ({
      status: 200,
      body: { ...(await listRolloutCauses(ctx, { ...params, ...query, ...reader })), nextCursor: null },
    }),
  }),
  route({
    method: 'GET',
    path: '/rollouts/{id}/curve',
    operationId: 'getRolloutCurve',
    summary: 'Returns how the outcomes of a ring developed, in at most 240 points. Without `ring`, of the first ring.',
    role: 'viewer',
    params: inRollout,
    query: z.object({ ring: ringQuery }),
    answers: {
      200: {
        meaning: 'The points, oldest first.',
        schema: z.object({ items: z.array(curvePoint), nextCursor: z.null() }),
      },
    },
    refusals: [404],
    run: async (ctx, { params, query }) => ({
      status: 200,
      body: { ...(await getCurve(ctx, { ...params, ...query })), nextCursor: null },
    }),
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/rollouts',
    operationId: 'listVmRollouts',
    summary: 'Lists the rollouts that changed a VM, and the open ones in which its turn has not come.',
    role: 'viewer',
    params: inVm,
    answers: {
      200: {
        meaning: 'The rollouts, newest first.',
        schema: z.object({ items: z.array(membershipView), nextCursor: z.null() }),
      },
    },
    refusals: [404],
    run: async (ctx, { params }) => ({
      status: 200,
      body: { ...(await listRolloutsOfVm(ctx, { vmId: params.id })), nextCursor: null },
    }),
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/extensions/{name}/version',
    operationId: 'explainVersion',
    summary:
      'Explains why an extension has its version: the requested version, and for each newer version of the handler what keeps the extension from it.',
    role: 'viewer',
    params: inExtension,
    answers: { 200: { meaning: 'The explanation.', schema: versionExplanation } },
    refusals: [404],
    run: async (ctx, { params }) => ({
      status: 200,
      body: await whyThisVersion(ctx, { vmId: params.id, name: params.name }),
    }),
  }),
  route({
    method: 'GET',
    path: '/handlers/{handler}/automatic-upgrades',
    operationId: 'getAutomaticUpgrades',
    summary:
      'Returns the automatic upgrades of a handler: their strategy, the number of VMs, the versions to which extensions are upgraded, and the rollouts.',
    role: 'viewer',
    params: inHandler,
    answers: { 200: { meaning: 'The automatic upgrades.', schema: automaticUpgrades } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await automaticOfHandler(ctx, params) }),
  }),
];

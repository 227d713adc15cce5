import { z } from 'zod';
import { pageOf } from '#server/domain/answers.ts';
import {
  changeProtectedSettings,
  extensionReceipt,
  extensionView,
  getExtension,
  getGoalState,
  goalStateView,
  listGoalStates,
  type Plan,
  pastGoalState,
  planExtension,
  planProtectedSettings,
  releasedSecrets,
  releaseSecrets,
  removalReceipt,
  removeExtension,
  revertGoalState,
  revertReceipt,
  setExtension,
} from '#server/domain/goal-states/index.ts';
import { extensionGoal, releaseSecretsInput, settingChanges } from '#server/domain/goal-states/input.ts';
import { cancelRetries, retryExtension } from '#server/domain/retries/index.ts';
import { retryLimits } from '#server/domain/retries/input.ts';
import { type Language, translateFaults } from '#server/i18n/index.ts';
import { shownPlan } from '../answers.ts';
import { flag, type RestRoute, route } from '../route.ts';
import { inExtension, inVm } from '../shapes.ts';

/** The hash of a plan. The call is rejected with 412 unless it would carry out exactly this plan. */
const planned = z.string().min(1).max(100).optional();

/** Returns a response with the incarnation as ETag, which a later call can send in `If-Match`. */
const tagged = <T extends { incarnation: number }>(status: number, body: T) => ({
  status,
  body,
  headers: { etag: `"${body.incarnation}"` },
});

const inWords = (plan: Plan, language: Language) => ({
  ...plan,
  warnings: translateFaults(plan.warnings, language),
  faults: translateFaults(plan.faults, language),
});

export const goalStateRoutes: readonly RestRoute[] = [
  route({
    method: 'PUT',
    path: '/vms/{id}/extensions/{name}',
    operationId: 'setExtension',
    summary: 'Adds or changes an extension of a VM. An identical request changes nothing.',
    role: 'operator',
    params: inExtension,
    query: z.object({ plan: planned, siblings: flag }),
    body: extensionGoal,
    takesIfMatch: true,
    answers: { 200: { meaning: 'The current declaration.', schema: extensionReceipt } },
    refusals: [404, 409, 412],
    run: async (ctx, { params, query, body, ifMatch }) =>
      tagged(200, await setExtension(ctx, { vmId: params.id, name: params.name, goal: body, ifMatch, ...query })),
  }),
  route({
    method: 'POST',
    path: '/vms/{id}/extensions/{name}/plan',
    operationId: 'planExtension',
    summary:
      'Shows what a change would do, without writing anything. A PUT with the returned `planHash` is rejected if its effect would differ from the plan.',
    role: 'operator',
    params: inExtension,
    query: z.object({ siblings: flag }),
    body: extensionGoal,
    answers: {
      200: {
        meaning: 'The plan. `faults` lists the errors with which the change would be rejected.',
        schema: shownPlan,
      },
    },
    refusals: [404, 409],
    run: async (ctx, { params, query, body, language }) => {
      const found = await planExtension(ctx, { vmId: params.id, name: params.name, goal: body, ...query });
      return { status: 200, body: inWords(found, language) };
    },
  }),
  route({
    method: 'PATCH',
    path: '/vms/{id}/extensions/{name}/protected-settings',
    operationId: 'changeProtectedSettings',
    summary:
      'Changes and removes individual protected settings of an extension; all other settings stay unchanged. The call is rejected if the portal cannot read the stored settings (`ANNEX_CUSTODY=vm`). The resulting settings are checked against the schema.',
    role: 'operator',
    params: inExtension,
    query: z.object({ plan: planned }),
    body: settingChanges,
    takesIfMatch: true,
    answers: { 200: { meaning: 'The current declaration.', schema: extensionReceipt } },
    refusals: [404, 409, 412],
    run: async (ctx, { params, query, body, ifMatch }) =>
      tagged(
        200,
        await changeProtectedSettings(ctx, { vmId: params.id, name: params.name, changes: body, ifMatch, ...query }),
      ),
  }),
  route({
    method: 'POST',
    path: '/vms/{id}/extensions/{name}/protected-settings/plan',
    operationId: 'planProtectedSettings',
    summary:
      'Shows what a change to individual protected settings would do, without writing anything. The plan names the settings, but contains no values. A PATCH with the returned `planHash` is rejected if its effect would differ from the plan.',
    role: 'operator',
    params: inExtension,
    body: settingChanges,
    answers: {
      200: {
        meaning: 'The plan. `faults` lists the errors with which the change would be rejected.',
        schema: shownPlan,
      },
    },
    refusals: [404, 409],
    run: async (ctx, { params, body, language }) => {
      const found = await planProtectedSettings(ctx, { vmId: params.id, name: params.name, changes: body });
      return { status: 200, body: inWords(found, language) };
    },
  }),
  route({
    method: 'POST',
    path: '/vms/{id}/extensions/{name}/retry',
    operationId: 'retryExtension',
    summary:
      'Runs the handler of an extension again with the same settings and the next sequence number. With `everyMinutes`, the portal repeats the retry up to `times` times (default 5), until the extension recovers or someone changes the extension.',
    role: 'operator',
    params: inExtension,
    query: z.object({
      sequenceNumber: z.coerce.number().int().min(0).optional(),
      everyMinutes: z.coerce.number().int().min(1).max(retryLimits.minutes).optional(),
      times: z.coerce.number().int().min(1).max(retryLimits.times).optional(),
    }),
    takesIfMatch: true,
    answers: { 200: { meaning: 'The current declaration.', schema: extensionReceipt } },
    refusals: [404, 409, 412],
    run: async (ctx, { params, query, ifMatch }) =>
      tagged(200, await retryExtension(ctx, { vmId: params.id, name: params.name, ...query, ifMatch })),
  }),
  route({
    method: 'DELETE',
    path: '/vms/{id}/extensions/{name}/retry',
    operationId: 'cancelRetries',
    summary: 'Cancels the repeated retries of an extension. A running command continues.',
    role: 'operator',
    params: inExtension,
    answers: { 204: { meaning: 'The extension has no repeated retries.' } },
    refusals: [404],
    run: async (ctx, { params }) => {
      await cancelRetries(ctx, { vmId: params.id, name: params.name });
      return { status: 204 };
    },
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/extensions/{name}',
    operationId: 'getExtension',
    summary:
      'Returns the declaration of an extension. For each protected setting, the response contains only its name, and when and by whom it was last changed.',
    role: 'operator',
    params: inExtension,
    answers: { 200: { meaning: 'The declaration.', schema: extensionView } },
    refusals: [404],
    run: async (ctx, { params }) => tagged(200, await getExtension(ctx, { vmId: params.id, name: params.name })),
  }),
  route({
    method: 'DELETE',
    path: '/vms/{id}/extensions/{name}',
    operationId: 'removeExtension',
    summary: 'Uninstalls an extension. With `force`, the extension is removed without waiting for the agent.',
    role: 'operator',
    params: inExtension,
    query: z.object({ force: flag, plan: planned }),
    takesIfMatch: true,
    answers: {
      202: {
        meaning:
          'The extension is being uninstalled. With `force`, or if the extension was never delivered, it has already been removed.',
        schema: removalReceipt,
      },
    },
    refusals: [404, 409, 412],
    run: async (ctx, { params, query, ifMatch }) =>
      tagged(202, await removeExtension(ctx, { vmId: params.id, name: params.name, ...query, ifMatch })),
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/goal-state',
    operationId: 'getGoalState',
    summary: 'Returns the current goal state of a VM.',
    role: 'operator',
    params: inVm,
    answers: { 200: { meaning: 'The goal state.', schema: goalStateView } },
    refusals: [404],
    run: async (ctx, { params }) => tagged(200, await getGoalState(ctx, { vmId: params.id })),
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/goal-states',
    operationId: 'listGoalStates',
    summary: 'Lists the goal states of a VM, newest first.',
    role: 'operator',
    params: inVm,
    query: z.object({
      limit: z.coerce.number().int().min(1).max(100).optional(),
      cursor: z.string().max(100).optional(),
    }),
    answers: { 200: { meaning: 'A page of goal states.', schema: pageOf(pastGoalState) } },
    refusals: [404],
    run: async (ctx, { params, query }) => ({
      status: 200,
      body: await listGoalStates(ctx, { vmId: params.id, ...query }),
    }),
  }),
  route({
    method: 'POST',
    path: '/vms/{id}/goal-states/{incarnation}/revert',
    operationId: 'revertGoalState',
    summary:
      'Publishes an earlier goal state again, as a new incarnation. Extensions added since then are uninstalled.',
    role: 'operator',
    params: inVm.extend({ incarnation: z.coerce.number().int().min(1).max(2_147_483_647) }),
    takesIfMatch: true,
    answers: {
      200: {
        meaning: 'The new current incarnation.',
        schema: revertReceipt,
      },
    },
    refusals: [404, 409, 412, 422],
    run: async (ctx, { params, ifMatch }) =>
      tagged(200, await revertGoalState(ctx, { vmId: params.id, incarnation: params.incarnation, ifMatch })),
  }),
  route({
    method: 'POST',
    path: '/vms/{id}/release-secrets',
    operationId: 'releaseSecrets',
    summary:
      'Releases protected settings that are withheld from the machine’s key. With `thumbprint`, the call is rejected if the VM’s certificate has a different thumbprint.',
    role: 'admin',
    params: inVm,
    query: z.object({ thumbprint: releaseSecretsInput.shape.thumbprint }),
    answers: {
      200: {
        meaning: 'The result; `extensions` is empty if nothing was withheld.',
        schema: releasedSecrets,
      },
    },
    refusals: [404, 412],
    run: async (ctx, { params, query }) => tagged(200, await releaseSecrets(ctx, { vmId: params.id, ...query })),
  }),
];

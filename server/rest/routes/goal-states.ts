import { z } from 'zod';
import {
  getExtension,
  getGoalState,
  listGoalStates,
  planExtension,
  releaseSecrets,
  removeExtension,
  revertGoalState,
  setExtension,
} from '#server/domain/goal-states/index.ts';
import { extensionGoal, releaseSecretsInput } from '#server/domain/goal-states/input.ts';
import { translateFaults } from '#server/i18n/index.ts';
import { flag, pageOf, type Route, route } from '../route.ts';
import { count, handler, inExtension, inVm, sha256, time, version, vmId } from '../shapes.ts';

const timeouts = z.object({ install: count, update: count, enable: count, disable: count, uninstall: count });
const goal = z.enum(['enabled', 'disabled', 'uninstall']);

const receipt = z.object({
  vmId,
  name: z.string(),
  handler,
  version,
  requestedVersion: version,
  state: goal,
  sequenceNumber: count,
  incarnation: count,
});

const removal = z.object({
  vmId,
  name: z.string(),
  state: z.enum(['uninstall', 'removed']),
  sequenceNumber: count,
  incarnation: count,
});

const declaration = receipt.extend({
  autoUpgradeMinorVersion: z
    .boolean()
    .describe('Stored and returned only: Annex does not upgrade versions automatically yet.'),
  dependsOn: z.array(z.string()),
  timeouts,
  publicSettings: z.record(z.string(), z.unknown()),
  protectedSettings: z
    .object({ changedAt: time, changedBy: z.string(), needsSecrets: z.boolean(), needsRelease: z.boolean() })
    .nullable(),
  changedAt: time,
  changedBy: z.string(),
});

const goalState = z.object({
  protocol: z.literal(1),
  vmId,
  incarnation: count,
  etag: z.string(),
  publishedAt: time,
  publishedBy: z.string(),
  extensions: z.array(
    z.object({
      name: z.string(),
      handler,
      version,
      state: goal,
      sequenceNumber: count,
      dependsOn: z.array(z.string()),
      timeouts,
      package: z.object({ sha256, size: count, url: z.string() }),
      settings: z.object({
        publicSettings: z.record(z.string(), z.unknown()),
        protectedSettings: z.string().optional(),
        protectedSettingsCertThumbprint: z.string().optional(),
      }),
    }),
  ),
});

const pastGoalState = z.object({
  incarnation: count,
  etag: z.string(),
  publishedAt: time,
  publishedBy: z.string(),
  cause: z.object({ action: z.string(), extension: z.string().optional(), incarnation: count.optional() }),
  extensions: z.array(z.record(z.string(), z.unknown())),
});

const fault = z.object({ path: z.string(), code: z.string(), message: z.string() });

const plan = z.object({
  vmId,
  incarnation: z.object({ before: count, after: count }),
  extensions: z.array(
    z.object({
      name: z.string(),
      handler,
      effect: z.enum(['none', 'incarnation', 'sequence']),
      version: version.nullable(),
      state: z.enum(['enabled', 'disabled', 'uninstall', 'dropped']),
      sequenceNumber: z.object({ before: count.nullable(), after: count }),
      changes: z.array(z.object({ path: z.string(), before: z.unknown().optional(), after: z.unknown().optional() })),
      protectedSettings: z.enum(['none', 'kept', 'added', 'replaced', 'removed']),
      needsRelease: z.boolean(),
    }),
  ),
  steps: z.array(
    z.object({
      extension: z.string(),
      command: z.enum(['install', 'update', 'enable', 'disable', 'uninstall']),
      version,
      seconds: count,
    }),
  ),
  others: z.array(z.object({ name: z.string(), command: z.enum(['enable', 'disable']), waits: z.boolean() })),
  warnings: z.array(fault),
  faults: z.array(fault),
  planHash: z.string().nullable(),
});

/** The hash of a plan: the call is refused with 412 when it would do anything else than the plan showed. */
const planned = z.string().min(1).max(100).optional();

/** The incarnation as `If-Match` takes it back. */
const tagged = <T extends { incarnation: number }>(status: number, body: T) => ({
  status,
  body,
  headers: { etag: `"${body.incarnation}"` },
});

export const goalStateRoutes: readonly Route[] = [
  route({
    method: 'PUT',
    path: '/vms/{id}/extensions/{name}',
    operationId: 'setExtension',
    summary: 'Declares an extension of a VM. An identical request changes nothing.',
    role: 'operator',
    params: inExtension,
    query: z.object({ plan: planned, siblings: flag }),
    body: extensionGoal,
    takesIfMatch: true,
    answers: { 200: { meaning: 'What is declared now.', schema: receipt } },
    refusals: [404, 409, 412],
    run: async (ctx, { params, query, body, ifMatch }) =>
      tagged(200, await setExtension(ctx, { vmId: params.id, name: params.name, goal: body, ifMatch, ...query })),
  }),
  route({
    method: 'POST',
    path: '/vms/{id}/extensions/{name}/plan',
    operationId: 'planExtension',
    summary: 'What a declaration would do. Nothing is written; `planHash` given with the PUT holds it to this plan.',
    role: 'operator',
    params: inExtension,
    query: z.object({ siblings: flag }),
    body: extensionGoal,
    answers: { 200: { meaning: 'The plan; what would be refused is in `faults`.', schema: plan } },
    refusals: [404, 409],
    run: async (ctx, { params, query, body, language }) => {
      const found = await planExtension(ctx, { vmId: params.id, name: params.name, goal: body, ...query });
      return {
        status: 200,
        body: {
          ...found,
          warnings: translateFaults(found.warnings, language),
          faults: translateFaults(found.faults, language),
        },
      };
    },
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/extensions/{name}',
    operationId: 'getExtension',
    summary: 'What is declared of an extension; of protected settings only when and by whom they were changed.',
    role: 'operator',
    params: inExtension,
    answers: { 200: { meaning: 'The declaration.', schema: declaration } },
    refusals: [404],
    run: async (ctx, { params }) => tagged(200, await getExtension(ctx, { vmId: params.id, name: params.name })),
  }),
  route({
    method: 'DELETE',
    path: '/vms/{id}/extensions/{name}',
    operationId: 'removeExtension',
    summary: 'Has an extension uninstalled; with `force` it is dropped without the agent.',
    role: 'operator',
    params: inExtension,
    query: z.object({ force: flag, plan: planned }),
    takesIfMatch: true,
    answers: {
      202: { meaning: 'Being uninstalled, or dropped where no agent has to be waited for.', schema: removal },
    },
    refusals: [404, 409, 412],
    run: async (ctx, { params, query, ifMatch }) =>
      tagged(202, await removeExtension(ctx, { vmId: params.id, name: params.name, ...query, ifMatch })),
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/goal-state',
    operationId: 'getGoalState',
    summary: 'The goal state in force, as the agent sees it.',
    role: 'operator',
    params: inVm,
    answers: { 200: { meaning: 'The goal state.', schema: goalState } },
    refusals: [404],
    run: async (ctx, { params }) => tagged(200, await getGoalState(ctx, { vmId: params.id })),
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/goal-states',
    operationId: 'listGoalStates',
    summary: 'The goal states of a VM, newest first.',
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
    summary: 'A new incarnation with the contents of an old one and new sequence numbers.',
    role: 'operator',
    params: inVm.extend({ incarnation: z.coerce.number().int().min(1).max(2_147_483_647) }),
    takesIfMatch: true,
    answers: {
      200: {
        meaning: 'The incarnation that is in force now.',
        schema: z.object({ vmId, incarnation: count, revertedTo: count }),
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
      'Releases protected settings that are withheld from the key of the machine. `thumbprint` holds the call to the certificate that was looked at.',
    role: 'admin',
    params: inVm,
    query: z.object({ thumbprint: releaseSecretsInput.shape.thumbprint }),
    answers: {
      200: {
        meaning: 'What is in force now; no extensions where nothing was withheld.',
        schema: z.object({
          vmId,
          thumbprint: z.string().nullable(),
          extensions: z.array(z.string()),
          incarnation: count,
        }),
      },
    },
    refusals: [404, 412],
    run: async (ctx, { params, query }) => tagged(200, await releaseSecrets(ctx, { vmId: params.id, ...query })),
  }),
];

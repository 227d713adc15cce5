import { z } from 'zod';
import {
  getRunbook,
  getRunbookVersion,
  listRunbooks,
  publishRunbookVersion,
  removeRunbookDraft,
  runbookDetails,
  runbookEntry,
  runbookVersionDetails,
  runbookVersionSummary,
  saveRunbookVersion,
  withdrawRunbookVersion,
} from '#server/domain/runbooks/index.ts';
import { listRunbooksInput, versionContents, withdrawRunbookInput } from '#server/domain/runbooks/input.ts';
import { type RestRoute, route } from '../route.ts';

const inRunbook = z.object({ name: z.string().max(64) });
const inRunbookVersion = inRunbook.extend({ version: z.string().max(64) });

/** A plan of 4 MiB can be twice as long if the JSON body contains it as a string. The schema adds up to 256 KiB. */
const contentsBytes = () => 10 * 1024 * 1024;

export const runbookRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/runbooks',
    operationId: 'listRunbooks',
    summary: 'Lists the runbooks, with their newest published version and their executions of the last 30 days.',
    role: 'viewer',
    query: listRunbooksInput,
    answers: {
      200: { meaning: 'The runbooks.', schema: z.object({ items: z.array(runbookEntry), nextCursor: z.null() }) },
    },
    refusals: [],
    run: async (ctx, { query }) => ({ status: 200, body: { ...(await listRunbooks(ctx, query)), nextCursor: null } }),
  }),
  route({
    method: 'GET',
    path: '/runbooks/{name}',
    operationId: 'getRunbook',
    summary: 'Returns a runbook with its versions, newest first.',
    role: 'viewer',
    params: inRunbook,
    answers: { 200: { meaning: 'The runbook.', schema: runbookDetails } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await getRunbook(ctx, params) }),
  }),
  route({
    method: 'GET',
    path: '/runbooks/{name}/versions/{version}',
    operationId: 'getRunbookVersion',
    summary: 'Returns a version of a runbook. Only operators and callers with the grant `scripts` get its plan.',
    role: 'viewer',
    params: inRunbookVersion,
    answers: { 200: { meaning: 'The version.', schema: runbookVersionDetails } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await getRunbookVersion(ctx, params) }),
  }),
  route({
    method: 'PUT',
    path: '/runbooks/{name}/versions/{version}',
    operationId: 'saveRunbookVersion',
    summary: 'Saves a draft of a runbook. A version that was published accepts only the same contents.',
    role: 'viewer',
    grant: 'scripts',
    params: inRunbookVersion,
    body: versionContents.strict(),
    bodyBytes: contentsBytes,
    answers: {
      200: { meaning: 'The version existed. A draft has the new contents.', schema: runbookVersionSummary },
      201: { meaning: 'The draft is new.', schema: runbookVersionSummary },
    },
    refusals: [409],
    run: async (ctx, { params, body }) => {
      const { version, isNew } = await saveRunbookVersion(ctx, { ...params, ...body });
      return { status: isNew ? 201 : 200, body: version };
    },
  }),
  route({
    method: 'DELETE',
    path: '/runbooks/{name}/versions/{version}',
    operationId: 'deleteRunbookDraft',
    summary: 'Deletes a draft, and the runbook if it has no other version.',
    role: 'viewer',
    grant: 'scripts',
    params: inRunbookVersion,
    answers: { 204: { meaning: 'The draft was deleted.' } },
    refusals: [404, 409],
    run: async (ctx, { params }) => {
      await removeRunbookDraft(ctx, params);
      return { status: 204 };
    },
  }),
  route({
    method: 'POST',
    path: '/runbooks/{name}/versions/{version}/publish',
    operationId: 'publishRunbookVersion',
    summary: 'Publishes a draft, so that operators can run it. Its contents can no longer change.',
    role: 'viewer',
    grant: 'scripts',
    params: inRunbookVersion,
    answers: { 200: { meaning: 'The version is published.', schema: runbookVersionSummary } },
    refusals: [404, 409],
    run: async (ctx, { params }) => ({ status: 200, body: await publishRunbookVersion(ctx, params) }),
  }),
  route({
    method: 'POST',
    path: '/runbooks/{name}/versions/{version}/withdraw',
    operationId: 'withdrawRunbookVersion',
    summary: 'Withdraws a published version, so that it can no longer be run. Queued executions continue.',
    role: 'viewer',
    grant: 'scripts',
    params: inRunbookVersion,
    body: withdrawRunbookInput.pick({ reason: true }).strict(),
    answers: { 200: { meaning: 'The version is withdrawn.', schema: runbookVersionSummary } },
    refusals: [404, 409],
    run: async (ctx, { params, body }) => ({
      status: 200,
      body: await withdrawRunbookVersion(ctx, { ...params, ...body }),
    }),
  }),
];

import { z } from 'zod';
import { executionLimits } from '#protocol/executions/index.ts';
import { allowScripts } from '#server/domain/actor.ts';
import { pageOf } from '#server/domain/answers.ts';
import { receiveUpload } from '#server/domain/packages/index.ts';
import {
  listRunbookFiles,
  openRunbookFile,
  putRunbookFile,
  removeRunbookFile,
  runbookFile,
} from '#server/domain/runbook-files/index.ts';
import { maxRevision, runbookFileInput } from '#server/domain/runbook-files/input.ts';
import { pageQuery, type RestRoute, route } from '../route.ts';

const bounds = { limit: executionLimits.fileBytes, code: 'runbook_file_too_large' } as const;

/** The pages also use this route for uploads. */
export const putRunbookFileRoute: RestRoute = route({
  method: 'PUT',
  path: '/runbook-files/{id}',
  operationId: 'putRunbookFile',
  summary:
    'Stores a file that execution plans name by its id (BodyType `ID`). Executions that were queued before get the contents that the file had then.',
  role: 'viewer',
  grant: 'scripts',
  params: runbookFileInput,
  takesStream: true,
  answers: {
    200: { meaning: 'The file has these contents now.', schema: runbookFile },
    201: { meaning: 'The file was created.', schema: runbookFile },
  },
  refusals: [],
  run: async (ctx, { params, upload }) => {
    if (upload === null) throw new Error('a file without its upload');
    allowScripts(ctx.actor);
    const received = await receiveUpload(ctx, upload.bytes, upload.declared, bounds);
    const { file, isNew } = await putRunbookFile(ctx, { ...params, upload: received });
    return { status: isNew ? 201 : 200, body: file };
  },
});

export const runbookFileRoutes: readonly RestRoute[] = [
  putRunbookFileRoute,
  route({
    method: 'GET',
    path: '/runbook-files',
    operationId: 'listRunbookFiles',
    summary: 'Lists the files of execution plans by their ids.',
    role: 'viewer',
    query: pageQuery,
    answers: { 200: { meaning: 'A page of files.', schema: pageOf(runbookFile) } },
    refusals: [],
    run: async (ctx, { query }) => ({ status: 200, body: await listRunbookFiles(ctx, query) }),
  }),
  route({
    method: 'GET',
    path: '/runbook-files/{id}',
    operationId: 'getRunbookFile',
    summary: 'Returns the contents of a file, or the earlier contents with the number `revision`.',
    role: 'operator',
    params: runbookFileInput,
    query: z.object({ revision: z.coerce.number().int().min(1).max(maxRevision).optional() }),
    answers: { 200: { meaning: 'The contents.', types: ['application/octet-stream'] } },
    refusals: [404],
    run: async (ctx, { params, query }) => {
      const { sha256, size, stream } = await openRunbookFile(ctx, { ...params, ...query });
      return {
        status: 200,
        bytes: stream,
        headers: {
          'content-type': 'application/octet-stream',
          'content-disposition': 'attachment',
          'content-length': String(size),
          'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
        },
      };
    },
  }),
  route({
    method: 'DELETE',
    path: '/runbook-files/{id}',
    operationId: 'removeRunbookFile',
    summary: 'Deletes a file with its earlier contents, unless an execution that names it has not ended.',
    role: 'viewer',
    grant: 'scripts',
    params: runbookFileInput,
    answers: { 204: { meaning: 'The file is deleted.' } },
    refusals: [404, 409],
    run: async (ctx, { params }) => {
      await removeRunbookFile(ctx, params);
      return { status: 204 };
    },
  }),
];

import { z } from 'zod';
import { pageOf } from '#server/domain/answers.ts';
import {
  archive,
  archiveList,
  downloadOutput,
  listArchives,
  listOutputs,
  openArchive,
  output,
  requestArchive,
} from '#server/domain/logs/index.ts';
import { requestArchiveInput } from '#server/domain/logs/input.ts';
import { pageQuery, type RestRoute, route } from '../route.ts';
import { inArchive, inOutput, inVm } from '../shapes.ts';

const attachment = (name: string) => `attachment; filename="${name}"`;

/** Responds with a command's output as a file. Pages use this route for downloads, too. */
const downloadOutputRoute: RestRoute = route({
  method: 'GET',
  path: '/vms/{id}/outputs/{output}',
  operationId: 'downloadOutput',
  summary: 'Downloads the whole output of a command. A line marks each part that was not received.',
  role: 'operator',
  params: inOutput,
  answers: { 200: { meaning: 'The output.', types: ['text/plain'] } },
  refusals: [404],
  run: async (ctx, { params }) => {
    const { output, bytes } = await downloadOutput(ctx, { vmId: params.id, outputId: params.output });
    const name = `${output.extension}-${output.sequenceNumber}-${output.command}-${output.attempt}.txt`;
    const headers = { 'content-type': 'text/plain; charset=utf-8', 'content-disposition': attachment(name) };
    return { status: 200, bytes, headers };
  },
});

/** Responds with an archive of log folders. Pages use this route for downloads, too. */
const downloadArchiveRoute: RestRoute = route({
  method: 'GET',
  path: '/vms/{id}/log-archives/{archive}',
  operationId: 'downloadLogArchive',
  summary: 'Downloads the log folders of a handler, as a tar.gz or zip archive from the agent.',
  role: 'operator',
  params: inArchive,
  answers: { 200: { meaning: 'The archive.', types: ['application/gzip', 'application/zip'] } },
  refusals: [404],
  run: async (ctx, { params }) => {
    const { archive, bytes } = await openArchive(ctx, { vmId: params.id, archiveId: params.archive });
    const name = `${archive.handler}-logs-${archive.answeredAt?.slice(0, 10)}.${archive.form}`;
    const type = archive.form === 'zip' ? 'application/zip' : 'application/gzip';
    return { status: 200, bytes, headers: { 'content-type': type, 'content-disposition': attachment(name) } };
  },
});

export const logFileRoutes: readonly RestRoute[] = [downloadOutputRoute, downloadArchiveRoute];

export const logRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/vms/{id}/outputs',
    operationId: 'listOutputs',
    summary: 'Lists the outputs of commands on a VM, newest first, including those of removed extensions.',
    role: 'operator',
    params: inVm,
    query: pageQuery.omit({ q: true }).extend({ extension: z.string().max(64).optional() }),
    answers: { 200: { meaning: 'A page of outputs.', schema: pageOf(output) } },
    refusals: [],
    run: async (ctx, { params, query }) => ({
      status: 200,
      body: await listOutputs(ctx, { vmId: params.id, ...query }),
    }),
  }),
  route({
    method: 'POST',
    path: '/vms/{id}/log-archives',
    operationId: 'requestLogArchive',
    summary: 'Requests the log folders of all versions of a handler from the agent, even after an uninstall.',
    role: 'operator',
    params: inVm,
    body: requestArchiveInput.omit({ vmId: true }).strict(),
    answers: { 202: { meaning: 'The request is open.', schema: archive } },
    refusals: [404, 409],
    run: async (ctx, { params, body }) => ({
      status: 202,
      body: await requestArchive(ctx, { vmId: params.id, ...body }),
    }),
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/log-archives',
    operationId: 'listLogArchives',
    summary: 'Lists a VM’s log requests and archives, newest first, and the handlers that it has or had.',
    role: 'operator',
    params: inVm,
    answers: {
      200: { meaning: 'The requests, the archives and the handlers.', schema: archiveList },
    },
    refusals: [],
    run: async (ctx, { params }) => ({ status: 200, body: await listArchives(ctx, { vmId: params.id }) }),
  }),
  ...logFileRoutes,
];

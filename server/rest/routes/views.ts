import { z } from 'zod';
import { commandNames, handlerStates, statusWords } from '#protocol/index.ts';
import { listReportHistory } from '#server/domain/reports/index.ts';
import {
  agentStatuses,
  explanation,
  extensionHealths,
  healthCauses,
  heartbeatVerdicts,
  notice,
  vmHealths,
} from '#server/domain/verdicts/index.ts';
import { getInstanceView } from '#server/domain/views/index.ts';
import { translateRefusedFiles } from '#server/i18n/index.ts';
import { pageOf, pageQuery, type Route, route } from '../route.ts';
import { count, inVm, time, vmId } from '../shapes.ts';

const message = z
  .object({
    text: z.string(),
    lang: z.string(),
    source: z.enum(['resource', 'formatted', 'id', 'recovered']),
    id: z.string().optional(),
    params: z.array(z.string()).optional(),
    original: z.string().optional(),
    truncated: z.literal(true).optional(),
  })
  .nullable();

const substatus = z
  .object({
    name: z.string().nullable(),
    operation: z.string().nullable(),
    status: z.enum(statusWords),
    code: z.number().int().nullable(),
    message,
    get substatus() {
      return z.array(substatus);
    },
  })
  .meta({ id: 'Substatus' });

const status = substatus.extend({
  omittedSubstatuses: count,
  sequenceNumber: count,
  configurationAppliedTime: z.string().nullable(),
  timestampUTC: z.string().nullable(),
  stale: z.boolean(),
  staleSeconds: count,
  readAt: time.nullable(),
});

const handlerState = z.object({
  state: z.enum(handlerStates),
  command: z.enum(commandNames).nullable(),
  sequenceNumber: count,
  exitCode: z.number().int().nullable(),
  timedOut: z.boolean(),
  failed: z.boolean().describe('Whether the last command ended without success.'),
  attempt: count.nullable(),
  outputTail: z.string().nullable().optional(),
  blockedBy: z.string().nullable(),
  at: time.nullable(),
});

const heartbeat = z.object({
  verdict: z.enum(heartbeatVerdicts),
  ageSeconds: count.nullable(),
  code: z.number().int().nullable(),
  message,
  readAt: time.nullable(),
  nextReadingAt: time.nullable(),
});

const agent = z.object({
  status: z.enum(agentStatuses),
  lastSeenAt: time.nullable(),
  nextExpectedAt: time.nullable(),
  name: z.string().nullable(),
  version: z.string().nullable(),
  clockSkewSeconds: z.number().nullable(),
  enrolledAt: time.nullable(),
  duplicateSeenAt: time.nullable(),
  refusals: z.array(
    z.object({
      code: z.string(),
      at: time,
      limitBytes: count.optional().describe('The limit that was exceeded.'),
      keptFrom: time.optional().describe('With `history_cleared`: the moment of the oldest report that is kept.'),
    }),
  ),
  hold: z.object({ at: time, by: z.string() }).nullable(),
  problems: z.array(z.object({ about: z.string(), message: z.string(), at: time })).optional(),
});

const refused = z
  .object({
    sequenceNumber: count.nullable(),
    readAt: time,
    faults: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })),
  })
  .nullable();

const extension = z.object({
  name: z.string(),
  handler: z.string(),
  goalVersion: z.string(),
  version: z.string().nullable(),
  goal: z.enum(['enabled', 'disabled', 'uninstall']),
  goalSequenceNumber: count,
  dependsOn: z.array(z.string()),
  changedAt: time,
  changedBy: z.string(),
  deliveredAt: time.nullable(),
  deadlineAt: time.nullable(),
  concludedAt: time.nullable(),
  concludedWith: z.enum(['success', 'error']).nullable(),
  done: z.boolean().describe('Whether the goal was reached.'),
  needsSecrets: z.boolean(),
  needsRelease: z.boolean(),
  handlerState: handlerState.nullable(),
  heartbeat,
  status: status.nullable(),
  refusedStatus: refused,
  refusedHeartbeat: refused,
  health: z.enum(extensionHealths),
  cause: z.enum(healthCauses).nullable(),
  waiting: z.boolean().describe('Whether it progresses only in that it waits for another extension.'),
  notice: notice.nullable().describe("What the portal says of it; null where the handler's own message counts."),
  failedPart: substatus.omit({ status: true, substatus: true }).nullable(),
});

const pendingRestart = z.object({
  since: time,
  requests: z.array(
    z.object({ handler: z.string(), version: z.string(), extensions: z.array(z.string()), since: time }),
  ),
});

const instanceView = z.object({
  vmId,
  name: z.string(),
  incarnation: count,
  publishedAt: time.nullable(),
  deliveredIncarnation: count,
  deliveredAt: time.nullable(),
  agent,
  extensions: z.array(extension),
  pendingRestart: pendingRestart.nullable(),
  health: z.enum(vmHealths),
  explanation: explanation
    .nullable()
    .describe('Why the VM is not done, or degraded; null where neither is so, and before an agent called.'),
});

const pastReport = z.object({
  id: count,
  at: time,
  kind: z.enum(['handler', 'heartbeat', 'status']),
  extension: z.string(),
  sequenceNumber: count.nullable(),
  current: z.boolean(),
  document: z.record(z.string(), z.unknown()),
});

export const viewRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/vms/{id}/instance-view',
    operationId: 'getInstanceView',
    summary: 'Goal and reports of a VM in one answer, in the language of Accept-Language; output is for operators.',
    role: 'viewer',
    params: inVm,
    answers: {
      200: { meaning: 'The instance view; Content-Language names the languages used.', schema: instanceView },
    },
    refusals: [404],
    run: async (ctx, { params, reader, language }) => {
      const view = await getInstanceView(ctx, { vmId: params.id, ...reader });
      const { languages, ...body } = translateRefusedFiles(view, language);
      return {
        status: 200,
        body,
        ...(languages.length > 0 && { headers: { 'content-language': languages.join(', ') } }),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/reports',
    operationId: 'listReports',
    summary: 'What was reported of a VM, as it was sent, newest first.',
    role: 'operator',
    params: inVm,
    query: pageQuery.omit({ q: true }).extend({ extension: z.string().max(64).optional() }),
    answers: { 200: { meaning: 'A page of reports.', schema: pageOf(pastReport) } },
    refusals: [],
    run: async (ctx, { params, query }) => ({
      status: 200,
      body: await listReportHistory(ctx, { vmId: params.id, ...query }),
    }),
  }),
];

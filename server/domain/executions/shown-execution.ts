import { getTableColumns } from 'drizzle-orm';
import { z } from 'zod';
import { executions } from '#db/schema/index.ts';
import { errorCodes, executionStates } from '#protocol/executions/index.ts';
import { count, isoOrNull as iso, time } from '#server/domain/answers.ts';
import type { ShownRow } from './rows.ts';

/** The columns of `ShownRow`. */
export const { result: _, ...shownColumns } = getTableColumns(executions);

/** A sentence about an execution, as a message id with its params (MU-20). Entry points add the text. */
export const executionMessage = z.object({ id: z.string(), params: z.array(z.string()) });

/** An execution without its plan, result or log. */
export const execution = z.object({
  id: z.uuid(),
  vmId: z.uuid(),
  vmName: z.string(),
  planId: z.string(),
  stamp: count,
  turn: count,
  state: z.enum(executionStates),
  name: z.string().describe('Empty if the plan has no name.'),
  version: z.string(),
  secretParameters: z
    .array(z.string())
    .describe('The names of the secret parameters. Their values are never returned.'),
  channel: z.enum(['https', 'amqp']),
  runbook: z.string().nullable().describe('The runbook that the plan comes from; null for any other plan.'),
  runbookVersion: z.string().nullable(),
  approval: z
    .object({ approved: z.boolean(), at: time, by: z.string(), note: z.string().nullable() })
    .nullable()
    .describe('The decision on an execution that waited for approval; null before a decision, or if none is needed.'),
  queuedAt: time,
  queuedBy: z.string(),
  deliveredAt: time.nullable(),
  receivedAt: time.nullable(),
  begunAt: time.nullable(),
  concludedAt: time.nullable(),
  validUntil: time.describe('When the execution expires if no machine has received it.'),
  dueAt: time.nullable().describe('When the portal ends the execution; null once it has ended.'),
  timeoutSeconds: count,
  errorCode: z.int().nullable().describe('The code of the result; null if the result has none.'),
  message: executionMessage.nullable().describe('How the execution ended; null before.'),
  reason: z.string().nullable().describe('Why the portal ended the execution; null if the machine did.'),
  late: z.boolean().describe('Whether the result arrived after the execution had ended.'),
  repeats: count.describe('How many results came after the first.'),
  run: count.describe('How often the Body has begun.'),
  reboots: count,
  cancelAskedAt: time.nullable(),
  cancelAskedBy: z.string().nullable(),
  note: z.string().nullable(),
  rolloutId: z.uuid().nullable().describe('The rollout that queued the execution; null if a person queued it.'),
});
export type Execution = z.infer<typeof execution>;

export function executionOf(row: ShownRow, vmName: string): Execution {
  return {
    ...{ id: row.id, vmId: row.vmId, vmName, planId: row.planId, stamp: row.stamp, turn: row.turn },
    ...{ state: row.state, name: row.name, version: row.version, channel: row.channel, note: row.note },
    secretParameters: row.secretParameters,
    ...{ runbook: row.runbook, runbookVersion: row.runbookVersion, approval: row.approval },
    queuedAt: row.queuedAt.toISOString(),
    queuedBy: row.queuedBy,
    deliveredAt: iso(row.deliveredAt),
    receivedAt: iso(row.receivedAt),
    begunAt: iso(row.begunAt),
    concludedAt: iso(row.concludedAt),
    validUntil: row.validUntil.toISOString(),
    dueAt: iso(row.dueAt),
    timeoutSeconds: row.timeoutSeconds,
    errorCode: row.errorCode,
    message: messageOf(row),
    reason: row.reason,
    late: row.resultLate,
    ...{ repeats: row.repeats, run: row.run, reboots: row.reboots },
    cancelAskedAt: iso(row.cancelAskedAt),
    cancelAskedBy: row.cancelAskedBy,
    rolloutId: row.rolloutId,
  };
}

/**
 * Returns the message about the end of an execution; null if the execution has not ended. The portal's reason takes
 * precedence over the error code.
 */
export function messageOf(row: Pick<ShownRow, 'state' | 'reason' | 'errorCode' | 'exception'>) {
  if (row.reason !== null) return { id: row.reason, params: [] };
  if (row.state === 'cancelled') return { id: 'execution.cancelled', params: [] };
  const { errorCode: code } = row;
  if (row.exception === null && code === null) return null;
  const { message, script } = row.exception ?? { message: '', script: '' };
  if (code === null) return { id: 'execution.plan-fault', params: [script, message] };
  if (code >= errorCodes.user)
    return { id: 'execution.code.user', params: [script, message, String(code - errorCodes.user)] };
  const isKnown = code <= errorCodes.timeout;
  return { id: isKnown ? `execution.code.${code}` : 'execution.code.other', params: [script, message, String(code)] };
}

import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Database, Transaction } from '#db/client.ts';
import { executionMessages } from '#db/schema/index.ts';
import { executionLimits, type LogMessage, logMessage } from '#protocol/executions/index.ts';
import { boundedText } from '#protocol/file.ts';
import { utf8Bytes } from '#protocol/limits.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { appendTranscript } from '#server/domain/logs/index.ts';
import { parse } from '#server/domain/parse.ts';
import { isOpen, nextProgressSeconds } from './execution.ts';
import { announce, apply, type ExecutionRow, lockExecution } from './rows.ts';

/** PostgreSQL rejects a row whose message ID is too long for the index. */
const givenMessage = logMessage
  .extend({ ID: boundedText(executionLimits.idBytes).min(1) })
  .refine(({ Body }) => utf8Bytes(JSON.stringify(Body)) <= executionLimits.logMessageBytes);
const givenMessages = z.union([
  givenMessage.transform((one) => [one]),
  z.array(givenMessage).min(1).max(executionLimits.messages),
]);

/**
 * Stores one or more log messages of an agent that sends no transcript. The portal writes the transcript from them.
 * A message with an ID that is stored already has no effect (MU-59). Returns the seconds until the agent should send
 * more. Throws 404 `execution_unknown`, 400 `invalid`, 413 `output_too_large`, 422 `result_of_another`, and 409
 * `transcript_other_writer` if the agent has sent a transcript.
 */
export async function takeMessages(ctx: Context, vmId: string, executionId: string, input: unknown): Promise<number> {
  const messages = parse(givenMessages, input, 'bad_request');
  let seconds = 0;
  await appendTranscript(ctx, { vmId, executionId }, async (tx, size) => {
    const row = await lockExecution(tx, vmId, executionId);
    if (row.handedOut === 0) throw new DomainError('not_found', 'execution_unknown');
    if (messages.some(({ SourceID: source = row.planId }) => source !== row.planId))
      throw new DomainError('unprocessable', 'result_of_another');
    if (size > 0 && (await messagesOf(tx, vmId, executionId)).length === 0)
      throw new DomainError('conflict', 'transcript_other_writer');
    seconds = nextProgressSeconds(ctx.now, row.begunAt, row.followedUntil);
    const fresh = await storeIds(tx, row, messages);
    if (fresh.length === 0) return null;
    const begunAt = row.begunAt ?? ctx.now;
    if (isOpen(row.state) && row.begunAt === null) {
      await apply(tx, ctx, row, 'run', { begunAt, receivedAt: row.receivedAt ?? ctx.now, run: 1 });
      await announce(tx, vmId, 'pages');
    }
    const ms = Math.max(0, ctx.now.getTime() - begunAt.getTime());
    return Buffer.from(fresh.map((message) => `${JSON.stringify([ms, 'log', message])}\n`).join(''));
  });
  return seconds;
}

/** Returns a query that finds a stored message of an execution. If there is one, the portal writes the transcript. */
export const messagesOf = (db: Database | Transaction, vmId: string, executionId: string) =>
  db
    .select({ messageId: executionMessages.messageId })
    .from(executionMessages)
    .where(and(eq(executionMessages.vmId, vmId), eq(executionMessages.executionId, executionId)))
    .limit(1);

/** Returns the messages that were not stored before, and stores their IDs. */
async function storeIds(
  tx: Transaction,
  { vmId, id: executionId }: ExecutionRow,
  messages: readonly LogMessage[],
): Promise<LogMessage[]> {
  const byId = new Map(messages.map((message) => [message.ID, message]));
  const rows = await tx
    .insert(executionMessages)
    .values([...byId.keys()].map((messageId) => ({ vmId, executionId, messageId })))
    .onConflictDoNothing()
    .returning();
  const fresh = new Set(rows.map(({ messageId }) => messageId));
  return [...byId.values()].filter(({ ID }) => fresh.has(ID));
}

import { and, eq, sql } from 'drizzle-orm';
import { executions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { receiveTranscript } from '#server/domain/logs/index.ts';
import type { ReceiveTranscriptInput } from '#server/domain/logs/input.ts';
import { nextProgressSeconds } from './execution.ts';
import { messagesOf } from './take-messages.ts';

/**
 * Stores a part of an execution's transcript, even after the execution has ended. Returns the number of bytes received
 * without a gap from the start, and the seconds until the agent should send more. Throws 404 `execution_unknown`, 409
 * `transcript_other_writer` if the agent has sent log messages, and the errors of `receiveOutput`.
 */
export async function takeTranscript(
  ctx: Context,
  input: ReceiveTranscriptInput,
  body: AsyncIterable<Uint8Array>,
): Promise<{ received: number; nextAfter: number }> {
  const { vmId, executionId } = input;
  const { begunAt, followedUntil, handedOut } = executions;
  const [row] = await ctx.db
    .select({
      begunAt,
      followedUntil,
      handedOut,
      hasMessages: sql<boolean>`exists ${messagesOf(ctx.db, vmId, executionId)}`,
    })
    .from(executions)
    .where(and(eq(executions.vmId, vmId), eq(executions.id, executionId)));
  if (row === undefined || row.handedOut === 0) throw new DomainError('not_found', 'execution_unknown');
  if (row.hasMessages) throw new DomainError('conflict', 'transcript_other_writer');
  const { received } = await receiveTranscript(ctx, input, body);
  return { received, nextAfter: nextProgressSeconds(ctx.now, row.begunAt, row.followedUntil) };
}

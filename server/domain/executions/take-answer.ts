import { and, eq, inArray, sql } from 'drizzle-orm';
import { executions } from '#db/schema/index.ts';
import { executionLimits, isPlanId, parseExactJson } from '#protocol/executions/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parseJson } from '#server/platform/json.ts';
import { isFinal } from './execution.ts';
import { announce, apply, type ExecutionRow, lockExecution, note } from './rows.ts';
import { takeMessages } from './take-messages.ts';
import { takeResult } from './take-result.ts';

/** A message that an agent sent over AMQP. */
export interface AmqpAnswer {
  bytes: Buffer;
  /** Properties of the message that may name the plan. */
  messageId: string | null;
  correlationId: string | null;
}

/** What happened to an answer: it was stored or counted, it was rejected, or it belongs to no execution. */
export type AnswerOutcome = 'taken' | 'unreadable' | 'unmatched';

/**
 * Stores the answers of agents (results and log messages) in the order in which they arrived. An answer belongs to the
 * execution with the plan ID in `SourceID` or, if no execution has that ID, with the plan ID in the properties of the
 * message. The first result of an execution is kept; later results are only counted (MU-18, MU-62).
 */
export async function takeAnswers(ctx: Context, answers: readonly AmqpAnswer[]): Promise<AnswerOutcome[]> {
  const read = answers.map((answer) => ({ answer, value: messageOf(answer) }));
  const found = await findExecutions(ctx, read);
  const outcomes: AnswerOutcome[] = [];
  const repeats = new Map<string, { row: ExecutionRow; count: number }>();
  for (const { answer, value } of read) {
    if (value === null) {
      outcomes.push('unreadable');
      continue;
    }
    const row = planIdsOf(value, answer).flatMap((id) => found.get(id) ?? [])[0];
    if (row === undefined) outcomes.push('unmatched');
    else if (value.Action === 'log') outcomes.push(await takeLog(ctx, row, value));
    else {
      const known = repeats.get(row.id);
      if (known === undefined) await takeFirst(ctx, row, answer);
      repeats.set(row.id, { row, count: known === undefined ? 0 : known.count + 1 });
      outcomes.push('taken');
    }
  }
  for (const { row, count } of repeats.values()) if (count > 0) await countRepeats(ctx, row, count);
  return outcomes;
}

type Message = Record<string, unknown>;

/** Returns an answer as an object; null if it is not a JSON object or is larger than a result can be. */
function messageOf({ bytes }: AmqpAnswer): Message | null {
  if (bytes.byteLength > executionLimits.resultBytes) return null;
  const { value, faults } = parseJson(bytes, { maxDepth: executionLimits.resultDepth, oddities: 'repair' });
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return faults.length === 0 && isObject ? (value as Message) : null;
}

/**
 * Returns the plan IDs that an answer may belong to, the most reliable first. Texts that cannot be an ID are omitted:
 * the properties of a message may contain NUL, which PostgreSQL does not accept even in a comparison.
 */
function planIdsOf(value: Message, { messageId, correlationId }: AmqpAnswer): string[] {
  return [value.SourceID, messageId, correlationId].filter(isPlanId);
}

/** Finds the executions that were sent over AMQP, by the IDs of their plans. */
async function findExecutions(
  ctx: Context,
  read: readonly { answer: AmqpAnswer; value: Message | null }[],
): Promise<Map<string, ExecutionRow>> {
  const ids = read.flatMap(({ answer, value }) => (value === null ? [] : planIdsOf(value, answer)));
  if (ids.length === 0) return new Map();
  const rows = await ctx.db
    .select()
    .from(executions)
    .where(and(inArray(executions.planId, ids), eq(executions.channel, 'amqp'), sql`${executions.handedOut} > 0`));
  return new Map(rows.map((row) => [row.planId, row]));
}

async function takeLog(ctx: Context, { vmId, id, planId }: ExecutionRow, value: Message): Promise<AnswerOutcome> {
  try {
    await takeMessages(ctx, vmId, id, { ...value, SourceID: planId });
    return 'taken';
  } catch (error) {
    if (error instanceof DomainError) return 'unreadable';
    throw error;
  }
}

async function takeFirst(ctx: Context, row: ExecutionRow, { bytes }: AmqpAnswer): Promise<void> {
  const text = bytes.toString('utf8');
  try {
    await takeResult(ctx, row.vmId, row.id, standardResult(text, row.planId));
  } catch (error) {
    if (!(error instanceof DomainError) || error.code === 'execution_unknown') throw error;
    await takeUnreadable(ctx, row, text);
  }
}

/**
 * Returns a result with the properties that Annex's own agent would have written. The Murano agent writes a different
 * `Action`, and times in UTC without a zone.
 */
export function standardResult(text: string, planId: string): string {
  const result = parseExactJson(text) as Message;
  // Results in format vCurrent have none of the properties below.
  if ('IsException' in result) return text;
  const { Time: time, Action: action } = result;
  const hasOwnTime = typeof time === 'string' && /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?$/.test(time);
  const fixed = {
    ...result,
    SourceID: planId,
    ...(action === 'Execution:Result' && { Action: 'Execute:Result' }),
    ...(hasOwnTime && { Time: `${time.replace(' ', 'T')}Z` }),
  };
  return JSON.stringify(fixed) === JSON.stringify(result) ? text : JSON.stringify(fixed);
}

/** Stores a result whose properties do not follow the format. If the execution has not ended, it fails. */
async function takeUnreadable(ctx: Context, { vmId, id }: ExecutionRow, text: string): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const row = await lockExecution(tx, vmId, id);
    if (row.result !== null) return note(tx, row, { repeats: row.repeats + 1 });
    if (isFinal(row.state)) await note(tx, row, { result: text, resultLate: true });
    else await apply(tx, ctx, row, 'fail', { result: text, reason: 'execution.result-unreadable' });
    await announce(tx, vmId, 'agent');
  });
}

async function countRepeats(ctx: Context, { vmId, id }: ExecutionRow, count: number): Promise<void> {
  await ctx.db
    .update(executions)
    .set({ repeats: sql`${executions.repeats} + ${count}` })
    .where(and(eq(executions.vmId, vmId), eq(executions.id, id)));
}

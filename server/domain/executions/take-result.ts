import { executionLimits } from '#protocol/executions/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parseJson } from '#server/platform/json.ts';
import { isFinal, isOpen } from './execution.ts';
import { isSuccess, type ReceivedResult, resultOf } from './result-of.ts';
import { announce, apply, lockExecution, note } from './rows.ts';

/**
 * Stores the result of an execution and ends the execution. The JSON text is stored unchanged. Only the first result is
 * stored; later results are counted. A result that arrives after the end is stored and marked as late, and does not
 * change the state (MU-19, MU-35). Throws 404 `execution_unknown`, 400 `invalid`, 422 `result_of_another`.
 */
export async function takeResult(ctx: Context, vmId: string, id: string, text: string): Promise<void> {
  const result = readResult(text);
  await ctx.db.transaction(async (tx) => {
    const row = await lockExecution(tx, vmId, id);
    // The machine cannot have a result for a plan that it never received.
    if (!isOpen(row.state) && row.handedOut === 0) throw new DomainError('not_found', 'execution_unknown');
    if (result.sourceId !== null && result.sourceId !== row.planId)
      throw new DomainError('unprocessable', 'result_of_another');
    if (row.result !== null) {
      await note(tx, row, { repeats: row.repeats + 1 });
      return;
    }
    const values = { result: text, errorCode: result.code, receivedAt: row.receivedAt ?? ctx.now };
    if (isFinal(row.state)) await note(tx, row, { ...values, resultLate: true });
    else {
      const ended = isSuccess(result) ? 'succeed' : 'fail';
      await apply(tx, ctx, row, row.cancelAskedAt === null ? ended : 'cancel', values);
    }
    // The VM's next execution can now begin.
    await announce(tx, vmId, 'agent');
  });
}

function readResult(text: string): ReceivedResult {
  // Results may contain numbers and characters that the portal rejects elsewhere.
  const { value, faults } = parseJson(text, { maxDepth: executionLimits.resultDepth, oddities: 'repair' });
  if (faults.length > 0) throw new DomainError('bad_request', 'invalid', { faults });
  return resultOf(value);
}

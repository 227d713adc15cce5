import { executionLimits } from '#protocol/executions/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parseJson } from '#server/platform/json.ts';
import { changeExecution, type ExecutionChange } from './change-execution.ts';
import { after, isOpen } from './execution.ts';
import { isSuccess, type ReceivedResult, resultOf } from './result-of.ts';
import { type ExecutionRow, endedAs } from './rows.ts';

/**
 * Stores the result of an execution and ends the execution. The JSON text is stored unchanged. Only the first result is
 * stored; later results are counted. A result that arrives after the end is stored and marked as late, and does not
 * change the state (MU-19, MU-35). Throws 404 `execution_unknown`, 400 `invalid`, 422 `result_of_another`.
 */
export async function takeResult(ctx: Context, vmId: string, id: string, text: string): Promise<void> {
  const result = readResult(text);
  await changeExecution(ctx, vmId, id, (row) => ({ answer: undefined, change: changeBy(result, text, row, ctx.now) }));
}

function changeBy(result: ReceivedResult, text: string, row: ExecutionRow, now: Date): ExecutionChange {
  // The machine cannot have a result for a plan that it never received.
  if (!isOpen(row.state) && row.handedOut === 0) throw new DomainError('not_found', 'execution_unknown');
  if (result.sourceId !== null && result.sourceId !== row.planId)
    throw new DomainError('unprocessable', 'result_of_another');
  if (row.result !== null) return { values: { repeats: row.repeats + 1 } };
  const { exception } = result;
  const values = { result: text, exception, errorCode: result.code, receivedAt: row.receivedAt ?? now };
  const ended = isSuccess(result) ? 'succeed' : 'fail';
  const state = after(row.state, row.cancelAskedAt === null ? ended : 'cancel');
  if (state === null) return { values: { ...values, resultLate: true } };
  return { values: { ...values, ...endedAs(state, now) } };
}

function readResult(text: string): ReceivedResult {
  // Results may contain numbers and characters that the portal rejects elsewhere.
  const { value, faults } = parseJson(text, { maxDepth: executionLimits.resultDepth, oddities: 'repair' });
  if (faults.length > 0) throw new DomainError('bad_request', 'invalid', { faults });
  return resultOf(value);
}

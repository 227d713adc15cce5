import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { isFinal } from './execution.ts';
import { getExecution } from './get-execution.ts';
import type { GetExecutionInput } from './input.ts';
import { followExecution, type LogRow, readLog } from './read-log.ts';

/**
 * Yields the rows of an execution's log, starting at a row, for operators. With `untilNext`, reads the log again after
 * each call of `untilNext`, until the execution has ended. Throws 404 `execution_unknown` before the first row.
 */
export async function* streamLog(
  ctx: Context,
  input: GetExecutionInput & { row: number },
  untilNext?: () => Promise<Date>,
): AsyncGenerator<LogRow[]> {
  allow(ctx.actor, 'operator');
  let { row } = input;
  let { now } = ctx;
  for (;;) {
    // The state is read before the rows, so that no row is missing when the execution has ended.
    const { state } = await getExecution(ctx, input);
    const isLast = untilNext === undefined || isFinal(state);
    if (!isLast) await followExecution({ ...ctx, now }, input);
    for (;;) {
      const { total, rows } = await readLog(ctx, { ...input, row });
      if (rows.length > 0) yield rows;
      row += rows.length;
      if (rows.length === 0 || row >= total) break;
    }
    if (isLast) return;
    now = await untilNext();
  }
}

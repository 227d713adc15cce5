import type { Context } from '#server/domain/context.ts';
import { isFinal } from './execution.ts';
import { getExecution } from './get-execution.ts';
import type { GetExecutionInput } from './input.ts';
import { followExecution, type LogRow, readLog } from './read-log.ts';

/**
 * Yields the rows of an execution's log from a row on, for operators. With `untilNext`, continues until the execution
 * has ended, and calls it before each further reading. Throws 404 `execution_unknown` before the first row.
 */
export async function* streamLog(
  ctx: Context,
  input: GetExecutionInput & { row: number },
  untilNext?: () => Promise<Date>,
): AsyncGenerator<LogRow[]> {
  let { row } = input;
  let { now } = ctx;
  for (;;) {
    // The state is read before the rows, so that the last reading comes after the end.
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

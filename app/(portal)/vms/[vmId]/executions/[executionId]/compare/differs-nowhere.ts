import type { ComparedExecutions, ShownCall } from '#app/(portal)/executions/execution-data.ts';
import { sortedJson } from './sorted-json.ts';

type Compared = Pick<ComparedExecutions, 'results' | 'plans'> & {
  before: Pick<ComparedExecutions['before'], 'state' | 'errorCode'>;
  after: Pick<ComparedExecutions['after'], 'state' | 'errorCode'>;
  calls: readonly { [side in 'before' | 'after']: Pick<ShownCall, 'state' | 'exitCode'> | null }[];
};

/**
 * Whether two executions had the same plan, outcome, result and calls. Times, and the output of the calls, which the
 * page loads on request, are not compared.
 */
export function differsNowhere({ before, after, results, plans, calls }: Compared): boolean {
  const bodyOf = (result: string | null) =>
    result === null ? null : sortedJson((JSON.parse(result) as { Body?: unknown }).Body ?? null);
  return (
    plans === null &&
    before.state === after.state &&
    before.errorCode === after.errorCode &&
    bodyOf(results.before) === bodyOf(results.after) &&
    calls.every(
      ({ before: a, after: b }) => a !== null && b !== null && a.state === b.state && a.exitCode === b.exitCode,
    )
  );
}

import { diffArrays } from 'diff';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type ExecutionDetails, getExecution, getPlan, getResult } from './get-execution.ts';
import {
  type CompareCallInput,
  type CompareExecutionsInput,
  compareCallInput,
  compareExecutionsInput,
  type GetExecutionInput,
} from './input.ts';
import { type LogRow, readLog, visibleText } from './read-log.ts';

type Call = ExecutionDetails['calls'][number];

/** The same call in two executions; `before` or `after` is null if that execution did not make the call. */
export interface CallPair {
  before: Call | null;
  after: Call | null;
}

/**
 * Maximum number of differences, because the running time grows with its square. If there are more, no calls are
 * paired.
 */
const maxEdits = 1_000;

/**
 * Compares two executions, which can belong to different VMs. Returns their results, their calls in pairs, and their
 * plans if the plans differ. For operators. Throws 404 `execution_unknown`.
 */
export async function compareExecutions(ctx: Context, input: CompareExecutionsInput) {
  allow(ctx.actor, 'operator');
  const { before, after } = parse(compareExecutionsInput, input);
  const read = async (of: GetExecutionInput) => ({
    execution: await getExecution(ctx, of),
    plan: await getPlan(ctx, of),
    result: await getResult(ctx, of),
  });
  const [left, right] = [await read(before), await read(after)];
  const isSamePlan = left.plan === right.plan;
  return {
    ...{ before: left.execution, after: right.execution },
    results: { before: left.result, after: right.result },
    plans: isSamePlan ? null : { before: left.plan, after: right.plan },
    calls: pairsOf(left.execution.calls, right.execution.calls),
  };
}

/**
 * Pairs calls of the two executions that have the same script and function, without changing the order of the calls.
 */
export function pairsOf(before: readonly Call[], after: readonly Call[]): CallPair[] {
  const comparator = (a: Call, b: Call) => a.script === b.script && a.function === b.function;
  const changes = diffArrays([...before], [...after], { comparator, maxEditLength: maxEdits });
  const pairs: CallPair[] = [];
  let [left, right] = [0, 0];
  for (const { added, removed, count } of changes ?? [
    { removed: true, added: false, count: before.length },
    { removed: false, added: true, count: after.length },
  ]) {
    for (let index = 0; index < count; index += 1) {
      pairs.push({ before: added ? null : (before[left++] ?? null), after: removed ? null : (after[right++] ?? null) });
    }
  }
  return pairs;
}

/** For longer outputs, only the number of the first line that differs is returned. */
const [maxLines, maxCharacters] = [5_000, 1_000_000];

/** `firstLine` is the number of the first line that differs, starting with 1; null if the outputs are equal. */
export interface ComparedOutput {
  firstLine: number | null;
  /** Both outputs; null if the outputs are equal or too long to compare line by line. */
  texts: { before: string; after: string } | null;
}

/** Compares the output of a call in two executions. For operators. Throws 404 `execution_unknown`. */
export async function compareCall(ctx: Context, input: CompareCallInput): Promise<ComparedOutput> {
  allow(ctx.actor, 'operator');
  const { before, after } = parse(compareCallInput, input);
  const [left, right] = [linesOf(ctx, before), linesOf(ctx, after)];
  const texts: { before: string[]; after: string[] } = { before: [], after: [] };
  let firstLine: number | null = null;
  let characters = 0;
  for (let line = 1; ; line += 1) {
    const [a, b] = [(await left.next()).value, (await right.next()).value];
    if (a === undefined && b === undefined) break;
    if (a !== b) firstLine ??= line;
    characters += (a?.length ?? 0) + (b?.length ?? 0);
    const isLong = line > maxLines || characters > maxCharacters;
    if (isLong && firstLine !== null) return { firstLine, texts: null };
    if (isLong) continue;
    if (a !== undefined) texts.before.push(a);
    if (b !== undefined) texts.after.push(b);
  }
  if (firstLine === null) return { firstLine, texts: null };
  return { firstLine, texts: { before: texts.before.join('\n'), after: texts.after.join('\n') } };
}

/** Yields the lines of a call's output, without control sequences. */
async function* linesOf(
  ctx: Context,
  { n, ...of }: GetExecutionInput & { n: number },
): AsyncGenerator<string, undefined> {
  const call = (await getExecution(ctx, of)).calls.find((each) => each.n === n);
  if (call === undefined) return undefined;
  for (let { row } = call; ; ) {
    const { total, rows } = await readLog(ctx, { ...of, row });
    for (const each of rows) if (isOutputOf(each, n)) yield visibleText(each.text);
    row += rows.length;
    if (rows.length === 0 || row >= Math.min(total, call.untilRow ?? total)) return undefined;
  }
}

const isOutputOf = (row: LogRow, n: number): boolean => row.n === n && (row.kind === 'out' || row.kind === 'err');

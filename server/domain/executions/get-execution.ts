import { and, asc, eq } from 'drizzle-orm';
import { z } from 'zod';
import { commandOutputs, executionCalls, executionPlans, executions, vms } from '#db/schema/index.ts';
import { callStates } from '#protocol/executions/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { reasonAgainst } from './decide-approval.ts';
import { type GetExecutionInput, getExecutionInput } from './input.ts';
import { only } from './rows.ts';
import { execution, executionOf, shownColumns } from './shown-execution.ts';

/** A call of an execution's Body. `atMs` is the time since the Body first began, `tookMs` the duration of the call. */
export const shownCall = z.object({
  n: count,
  run: count,
  script: z.string().nullable(),
  function: z.string().nullable(),
  state: z.enum(callStates),
  row: count,
  untilRow: count.nullable(),
  atMs: count,
  tookMs: count.nullable(),
  exitCode: z.int().nullable(),
  fromJournal: z.boolean(),
});

export const executionDetails = execution.extend({
  calls: z.array(shownCall),
  mayDecide: z.boolean().describe('Whether the caller may approve or decline the execution now.'),
  outputId: z.uuid().nullable().describe('The id of the log; null before anything was written.'),
});
export type ExecutionDetails = z.infer<typeof executionDetails>;

/** Returns an execution with its calls. Works for deleted VMs too. Throws 404 `execution_unknown`. */
export async function getExecution(ctx: Context, input: GetExecutionInput): Promise<ExecutionDetails> {
  allow(ctx.actor, 'viewer');
  const { vmId, executionId } = parse(getExecutionInput, input);
  const { execution, vmName } = await load(ctx, vmId, executionId);
  const calls = await ctx.db
    .select()
    .from(executionCalls)
    .where(and(eq(executionCalls.vmId, vmId), eq(executionCalls.executionId, executionId)))
    .orderBy(asc(executionCalls.n));
  const [output] = await ctx.db
    .select({ id: commandOutputs.id })
    .from(commandOutputs)
    .where(and(eq(commandOutputs.vmId, vmId), eq(commandOutputs.executionId, executionId)));
  return {
    ...executionOf(execution, vmName),
    calls: calls.map(({ vmId: _, executionId: __, ...call }) => call),
    mayDecide: (await reasonAgainst(ctx, ctx.db, execution)) === null,
    outputId: output?.id ?? null,
  };
}

/** Returns the plan of an execution as it was queued, for operators. Throws 404 `execution_unknown`. */
export async function getPlan(ctx: Context, input: GetExecutionInput): Promise<string> {
  allow(ctx.actor, 'operator');
  const { vmId, executionId } = parse(getExecutionInput, input);
  const { execution } = await load(ctx, vmId, executionId);
  const [plan] = await ctx.db.select().from(executionPlans).where(eq(executionPlans.sha256, execution.planSha256));
  if (plan === undefined) throw new DomainError('not_found', 'execution_unknown');
  return plan.text;
}

/**
 * Returns the JSON text of an execution's result, for operators; null without a result. Throws 404 `execution_unknown`.
 */
export async function getResult(ctx: Context, input: GetExecutionInput): Promise<string | null> {
  allow(ctx.actor, 'operator');
  const { vmId, executionId } = parse(getExecutionInput, input);
  const [row] = await ctx.db.select({ result: executions.result }).from(executions).where(only(vmId, executionId));
  if (row === undefined) throw new DomainError('not_found', 'execution_unknown');
  return row.result;
}

async function load(ctx: Context, vmId: string, id: string) {
  const [row] = await ctx.db
    .select({ execution: shownColumns, vmName: vms.name })
    .from(executions)
    .innerJoin(vms, eq(vms.id, executions.vmId))
    .where(only(vmId, id));
  if (row === undefined) throw new DomainError('not_found', 'execution_unknown');
  return row;
}

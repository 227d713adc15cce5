import { eq } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import type { Transaction } from '#db/client.ts';
import { executionPlans, executionStamps, executions } from '#db/schema/index.ts';
import { executionLimits } from '#protocol/executions/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { type Head, lockHead, takeTurn } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { actorRef, findPrincipal } from '#server/domain/principal.ts';
import { type JudgedPlan, judgePlan } from '#server/domain/runbooks/index.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { beyondMurano } from './beyond-murano.ts';
import { findChannel } from './channel.ts';
import { nextStamp } from './execution.ts';
import { pinFiles } from './execution-files.ts';
import { needsApproval } from './execution-rules.ts';
import { type QueueExecutionInput, queueExecutionInput } from './input.ts';
import { findPlanMachine, type PlanMachine } from './plan-machine.ts';
import { type ResolvedRequest, resolveRequest } from './resolve-request.ts';
import { announce, countWaiting, type ExecutionRow } from './rows.ts';
import { hasSameSecrets, requireSeparate, type SecretValues, storeSecretParameters } from './secret-parameters.ts';
import { storePlan } from './store-plan.ts';

type Accepted = Extract<JudgedPlan, { text: string }>;

/**
 * Queues an execution plan for a VM. Operators may queue published runbooks, and with the grant `scripts` any plan. The
 * execution takes the VM's next turn and stamp. If a plan with the same ID was queued before, returns that execution
 * with `isNew` false (MU-10, MU-24). Throws 404 `vm_unknown`, 409 `plan_id_taken` | `vm_decommissioning` |
 * `executions_off` | `agent_without_executions` | `queue_full`, 413 `json_too_large` | `plan_parameters_too_large`, 422
 * `plan_invalid` | `beyond_agent` with every fault | `parameter_twice` | `secrets_need_sealing`, and what
 * `resolveRequest` throws.
 */
export async function queueExecution(
  ctx: Context,
  input: QueueExecutionInput,
): Promise<{ execution: ExecutionRow; isNew: boolean }> {
  allow(ctx.actor, 'operator');
  const { vmId, ...request } = parse(queueExecutionInput, input);
  const { plan: given, secretParameters: secrets, ...terms } = await resolveRequest(ctx, request);
  return ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    const machine = await findPlanMachine(tx, vmId);
    const channel = await findChannel(tx, vmId);
    const isMurano = channel?.dialect === 'murano';
    // What an enrolled agent can run says nothing about a Murano agent on the same machine.
    const judged = judgePlan(given, isMurano ? null : machine.platforms);
    if ('faults' in judged) {
      const params = { code: judged.code };
      throw new DomainError('unprocessable', 'plan_invalid', { params, faults: judged.faults });
    }
    requireSeparate(judged.plan, secrets);
    const same = await findSame(tx, ctx, { vmId, judged, secrets });
    if (same !== null) return { execution: same, isNew: false };
    if (head.decommissioning) throw new DomainError('conflict', 'vm_decommissioning');
    rejectUnfit(machine, channel !== null, await countWaiting(tx, vmId));
    if (isMurano) rejectBeyondMurano(judged.text, secrets);
    const via = channel === null ? 'https' : 'amqp';
    const execution = await insert(tx, ctx, {
      ...{ head, machine: machine.enrolledAt, channel: via, judged, secrets, terms },
    });
    await pinFiles(tx, execution, judged);
    await recordAudit(tx, ctx, {
      action: 'execution.queue',
      target: { kind: 'execution', id: execution.id },
      vmId,
      details: {
        name: execution.name,
        version: execution.version,
        plan: execution.planSha256,
        timeoutSeconds: terms.timeoutSeconds,
        ...(execution.secretId !== null && { secretParameters: execution.secretParameters }),
        ...(terms.runbook !== null && { runbook: terms.runbook, runbookVersion: terms.runbookVersion }),
      },
    });
    await announce(tx, vmId, 'agent');
    return { execution, isNew: true };
  });
}

/**
 * Returns the execution that was queued with the plan's ID; null if there is none. Throws 409 `plan_id_taken` if its
 * plan, secret parameters or VM differ.
 */
async function findSame(
  tx: Transaction,
  ctx: Context,
  { vmId, judged: { plan, text }, secrets }: Pick<NewExecution, 'judged' | 'secrets'> & { vmId: string },
): Promise<ExecutionRow | null> {
  if (plan.id === null) return null;
  const [known] = await tx
    .select({ execution: executions, text: executionPlans.text })
    .from(executions)
    .innerJoin(executionPlans, eq(executionPlans.sha256, executions.planSha256))
    .where(eq(executions.planId, plan.id));
  if (known === undefined) return null;
  const isSame = canonicalJson(JSON.parse(known.text)) === canonicalJson(JSON.parse(text));
  const { execution } = known;
  if (isSame && execution.vmId === vmId && (await hasSameSecrets(tx, ctx, execution, secrets))) return execution;
  throw new DomainError('conflict', 'plan_id_taken');
}

function rejectUnfit({ kind, isOff }: PlanMachine, isBound: boolean, waiting: number): void {
  if (isOff) throw new DomainError('conflict', 'executions_off');
  if (kind === 'stock' && !isBound) throw new DomainError('conflict', 'agent_without_executions');
  const limit = executionLimits.waiting;
  if (waiting >= limit) throw new DomainError('conflict', 'queue_full', { params: { limit } });
}

/**
 * Rejects a plan that the Murano agent would answer with an error (MU-64). The error lists every fault. Also rejects
 * secret parameters, which that agent cannot decrypt.
 */
function rejectBeyondMurano(text: string, secrets: SecretValues): void {
  if (Object.keys(secrets).length > 0) throw new DomainError('unprocessable', 'secrets_need_sealing');
  const faults = beyondMurano(JSON.parse(text));
  if (faults.length > 0) throw new DomainError('unprocessable', 'beyond_agent', { faults });
}

interface NewExecution {
  head: Head;
  /** When the VM's machine enrolled; null if the VM has no machine. */
  machine: Date | null;
  channel: 'https' | 'amqp';
  judged: Accepted;
  secrets: SecretValues;
  terms: Omit<ResolvedRequest, 'plan' | 'secretParameters'>;
}

async function insert(
  tx: Transaction,
  ctx: Context,
  { head, machine, channel, judged: { plan, text }, secrets, terms }: NewExecution,
): Promise<ExecutionRow> {
  const { vmId } = head;
  const id = uuid();
  const turn = await takeTurn(tx, head);
  const planSha256 = sha256Hex(text);
  await storePlan(tx, { sha256: planSha256, text, createdAt: ctx.now });
  const validUntil = new Date(ctx.now.getTime() + terms.validForSeconds * 1_000);
  const [row] = await tx
    .insert(executions)
    .values({
      ...{ vmId, id, turn, machineEnrolledAt: machine, planSha256, validUntil, dueAt: validUntil },
      ...(await storeSecretParameters(tx, ctx, head, id, secrets)),
      planId: plan.id ?? id,
      stamp: await takeStamp(tx, ctx, vmId),
      state: (await needsApproval(tx, terms)) ? 'waiting-approval' : 'queued',
      ...{ runbook: terms.runbook, runbookVersion: terms.runbookVersion },
      requestedBy: (await findPrincipal(tx, actorRef(ctx.actor), ctx.now))?.key ?? null,
      name: plan.name ?? '',
      version: plan.version,
      channel,
      queuedAt: ctx.now,
      queuedBy: ctx.actor.name,
      note: terms.note,
      timeoutSeconds: terms.timeoutSeconds,
    })
    .onConflictDoNothing()
    .returning();
  // Another call has just queued a plan with this ID for another VM.
  if (row === undefined) throw new DomainError('conflict', 'plan_id_taken');
  return row;
}

/** Takes the VM's next stamp. The caller must have locked the VM's head. */
export async function takeStamp(tx: Transaction, ctx: Context, vmId: string): Promise<number> {
  const [last] = await tx.select().from(executionStamps).where(eq(executionStamps.vmId, vmId));
  const highest = nextStamp(ctx.now, last?.highest ?? 0);
  await tx
    .insert(executionStamps)
    .values({ vmId, highest })
    .onConflictDoUpdate({ target: executionStamps.vmId, set: { highest } });
  return highest;
}

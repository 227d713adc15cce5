import { and, eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { runbookVersions } from '#db/schema/index.ts';
import { allow, hasRole, hasScripts } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type ErrorCode, type ErrorKind } from '#server/domain/error.ts';
import { lockHead, takeTurn } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { actorRef } from '#server/domain/principal.ts';
import { type DecideApprovalInput, decideApprovalInput } from './input.ts';
import { takeStamp } from './queue-execution.ts';
import { announce, apply, lockExecution, type ShownRow } from './rows.ts';

/**
 * Approves or declines an execution that waits for approval. The decision must come from a person who could have queued
 * the execution, but did not queue it. An approved execution takes its turn and its stamp now, so it comes after the
 * work that was queued in the meantime. Throws 403 `scripts_forbidden` | `person_required`, 404 `vm_unknown` |
 * `execution_unknown`, 409 `own_request` | `not_waiting_approval`.
 */
export async function decideApproval(ctx: Context, input: DecideApprovalInput): Promise<void> {
  allow(ctx.actor, 'operator');
  const { vmId, executionId, approve, note = null } = parse(decideApprovalInput, input);
  await ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    const row = await lockExecution(tx, vmId, executionId);
    const against = await reasonAgainst(ctx, tx, row);
    if (against !== null) throw new DomainError(...against);
    const approval = { approved: approve, at: ctx.now.toISOString(), by: ctx.actor.name, note };
    if (approve) {
      const place = { turn: await takeTurn(tx, head), stamp: await takeStamp(tx, ctx, vmId) };
      await apply(tx, ctx, row, 'approve', { approval, ...place });
    } else await apply(tx, ctx, row, 'decline', { approval, reason: 'execution.declined' });
    await recordAudit(tx, ctx, {
      action: approve ? 'execution.approve' : 'execution.decline',
      target: { kind: 'execution', id: row.id },
      vmId,
      details: { name: row.name, version: row.version, plan: row.planSha256, note },
    });
    await announce(tx, vmId, 'agent');
  });
}

/** Returns why the caller may not decide on an execution now; null if the caller may. */
export async function reasonAgainst(
  { actor }: Pick<Context, 'actor'>,
  db: Database | Transaction,
  row: ShownRow,
): Promise<[ErrorKind, ErrorCode] | null> {
  if (row.state !== 'waiting-approval') return ['conflict', 'not_waiting_approval'];
  // A token cannot decide: it could belong to the person who queued the execution.
  if (actor.kind !== 'user' || !hasRole(actor, 'operator')) return ['forbidden', 'person_required'];
  if (row.requestedBy === actorRef(actor)) return ['conflict', 'own_request'];
  if (!hasScripts(actor) && !(await isPublishedRunbook(db, row))) return ['forbidden', 'scripts_forbidden'];
  return null;
}

/** Whether the plan comes from a version of a runbook that was published when the execution was queued. */
async function isPublishedRunbook(
  db: Database | Transaction,
  { runbook, runbookVersion, queuedAt }: ShownRow,
): Promise<boolean> {
  if (runbook === null || runbookVersion === null) return false;
  const versions = await db
    .select({ publishedAt: runbookVersions.publishedAt })
    .from(runbookVersions)
    .where(and(eq(runbookVersions.runbook, runbook), eq(runbookVersions.version, runbookVersion)));
  return versions.some(({ publishedAt }) => publishedAt !== null && publishedAt <= queuedAt);
}

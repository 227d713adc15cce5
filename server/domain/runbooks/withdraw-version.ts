import { runbookVersions } from '#db/schema/index.ts';
import { allowScripts } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type WithdrawRunbookInput, withdrawRunbookInput } from './input.ts';
import { lockRunbookVersion, onlyVersion } from './rows.ts';
import { type RunbookVersionSummary, summaryOf } from './shown-version.ts';

/**
 * Withdraws a published version, so that it can no longer be run. Queued executions still run. A second call changes
 * nothing and keeps the first reason. Throws 404 `runbook_unknown` | `runbook_version_unknown`, 409
 * `runbook_not_published`.
 */
export async function withdrawRunbookVersion(
  ctx: Context,
  input: WithdrawRunbookInput,
): Promise<RunbookVersionSummary> {
  allowScripts(ctx.actor);
  const { reason, ...reference } = parse(withdrawRunbookInput, input);
  return ctx.db.transaction(async (tx) => {
    const row = await lockRunbookVersion(tx, reference);
    const { runbook: name, version } = row;
    if (row.state === 'draft') throw new DomainError('conflict', 'runbook_not_published', { params: { version } });
    if (row.state === 'withdrawn') return summaryOf(row);
    const changed = {
      state: 'withdrawn',
      withdrawnAt: ctx.now,
      withdrawnBy: ctx.actor.name,
      withdrawnReason: reason,
    } as const;
    await tx.update(runbookVersions).set(changed).where(onlyVersion(reference));
    await recordAudit(tx, ctx, {
      action: 'runbook.withdraw',
      target: { kind: 'runbook', id: name },
      before: { state: row.state },
      after: { state: 'withdrawn', reason },
      details: { runbook: name, version, reason },
    });
    await recordChange(tx, 'runbook', name);
    return summaryOf({ ...row, ...changed });
  });
}

import { and, eq, notExists } from 'drizzle-orm';
import { runbooks, runbookVersions } from '#db/schema/index.ts';
import { allowScripts } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type RunbookVersionInput, runbookVersionInput } from './input.ts';
import { lockRunbookVersion, onlyVersion } from './rows.ts';

/**
 * Deletes a draft, and the runbook if it has no other version. Throws 404 `runbook_unknown` |
 * `runbook_version_unknown`, 409 `runbook_not_draft`.
 */
export async function removeRunbookDraft(ctx: Context, input: RunbookVersionInput): Promise<void> {
  allowScripts(ctx.actor);
  const reference = parse(runbookVersionInput, input);
  await ctx.db.transaction(async (tx) => {
    const { state, runbook: name, version, sha256, title } = await lockRunbookVersion(tx, reference);
    if (state !== 'draft') throw new DomainError('conflict', 'runbook_not_draft', { params: { version } });
    await tx.delete(runbookVersions).where(onlyVersion(reference));
    const others = tx.select().from(runbookVersions).where(eq(runbookVersions.runbook, name));
    await tx.delete(runbooks).where(and(eq(runbooks.name, name), notExists(others)));
    await recordAudit(tx, ctx, {
      action: 'runbook.remove',
      target: { kind: 'runbook', id: name },
      before: { title, sha256 },
      details: { runbook: name, version },
    });
    await recordChange(tx, 'runbook', name);
  });
}

import { eq } from 'drizzle-orm';
import { runbookVersions } from '#db/schema/index.ts';
import { allowScripts } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { type RunbookVersionRow, requireRunbook, requireRunbookVersion } from './rows.ts';
import { leadingVersion } from './runbook.ts';

/**
 * Returns the version of a runbook to run: the given one, or by default the newest published one. Drafts can be run
 * only with the grant `scripts`. Throws 404 `runbook_unknown` | `runbook_version_unknown`, 409 `runbook_not_published`
 * | `runbook_withdrawn`.
 */
export async function chooseRunbookVersion(
  ctx: Context,
  { name, version }: { name: string; version?: string | undefined },
): Promise<RunbookVersionRow> {
  if (version === undefined) {
    const rows = await ctx.db.select().from(runbookVersions).where(eq(runbookVersions.runbook, name));
    const newest = leadingVersion(rows);
    if (newest === undefined) await requireRunbook(ctx.db, name);
    if (newest?.state === 'published') return newest;
    throw new DomainError('conflict', 'runbook_not_published');
  }
  const row = await requireRunbookVersion(ctx.db, { name, version });
  if (row.state === 'withdrawn') throw new DomainError('conflict', 'runbook_withdrawn', { params: { version } });
  if (row.state === 'draft') allowScripts(ctx.actor);
  return row;
}

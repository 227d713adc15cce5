import { runbookVersions } from '#db/schema/index.ts';
import { allowScripts } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type RunbookVersionInput, runbookVersionInput } from './input.ts';
import { lockRunbookVersion, onlyVersion } from './rows.ts';
import { type RunbookVersionSummary, summaryOf } from './shown-version.ts';

/**
 * Publishes a draft, so that operators can run it. Publishing a published version again changes nothing. Throws 404
 * `runbook_unknown` | `runbook_version_unknown`, 409 `runbook_withdrawn`.
 */
export async function publishRunbookVersion(ctx: Context, input: RunbookVersionInput): Promise<RunbookVersionSummary> {
  allowScripts(ctx.actor);
  const reference = parse(runbookVersionInput, input);
  return ctx.db.transaction(async (tx) => {
    const row = await lockRunbookVersion(tx, reference);
    const { runbook: name, version } = row;
    if (row.state === 'withdrawn') throw new DomainError('conflict', 'runbook_withdrawn', { params: { version } });
    if (row.state === 'published') return summaryOf(row);
    const changed = { state: 'published', publishedAt: ctx.now, publishedBy: ctx.actor.name } as const;
    await tx.update(runbookVersions).set(changed).where(onlyVersion(reference));
    await recordAudit(tx, ctx, {
      action: 'runbook.publish',
      target: { kind: 'runbook', id: name },
      before: { state: row.state },
      after: { state: 'published' },
      details: { runbook: name, version, sha256: row.sha256 },
    });
    await recordChange(tx, 'runbook', name);
    return summaryOf({ ...row, ...changed });
  });
}

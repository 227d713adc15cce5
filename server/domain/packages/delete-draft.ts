import { and, eq, notExists } from 'drizzle-orm';
import { handlers, handlerVersions } from '#db/schema/index.ts';
import { parseHandlerId } from '#protocol/names.ts';
import { allowNamespace } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { removeUnusedBytes } from './bytes.ts';
import { requireVersion } from './find-version.ts';
import { type VersionReferenceInput, versionReferenceInput } from './input.ts';

/**
 * Deletes a draft with its resources, and the bytes that nothing else references. Throws 409 for a version in another
 * state.
 */
export async function deleteDraft(ctx: Context, input: VersionReferenceInput): Promise<void> {
  const reference = parse(versionReferenceInput, input);
  allowNamespace(ctx.actor, parseHandlerId(reference.handler)?.namespace ?? '');
  const sha256 = await ctx.db.transaction(async (tx) => {
    const row = await requireVersion(tx, reference, { lock: true });
    const { handler, version } = row;
    if (row.state !== 'draft') throw new DomainError('conflict', 'version_not_draft', { params: { version } });
    await tx
      .delete(handlerVersions)
      .where(and(eq(handlerVersions.handler, handler), eq(handlerVersions.version, version)));
    const versions = tx.select().from(handlerVersions).where(eq(handlerVersions.handler, handler));
    await tx.delete(handlers).where(and(eq(handlers.id, handler), notExists(versions)));
    await recordAudit(tx, ctx, {
      action: 'version.delete',
      target: { kind: 'version', id: `${handler}-${version}` },
      before: { state: row.state, sha256: row.sha256, size: row.size },
      details: { handler, version },
    });
    await recordChange(tx, 'handler', handler);
    return row.sha256;
  });
  await removeUnusedBytes(ctx, sha256);
}

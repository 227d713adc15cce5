import { eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { handlers } from '#db/schema/index.ts';
import { type AnyManifest, isHandlerManifest } from '#protocol/formula.ts';
import type { PackageKind } from '#protocol/formula-words.ts';
import type { HandlerManifest } from '#protocol/manifest.ts';
import { parseHandlerId } from '#protocol/names.ts';
import { allow, allowNamespace } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import type { VersionRow } from './find-version.ts';

/** A version of a handler, and not of a formula. */
export type HandlerVersionRow = Omit<VersionRow, 'manifest'> & { manifest: HandlerManifest };

export function isHandlerVersion<Row extends { manifest: AnyManifest }>(
  row: Row,
): row is Row & { manifest: HandlerManifest } {
  return isHandlerManifest(row.manifest);
}

/** Returns the kind of an id's packages; null if the id is not registered. */
export async function findKind(tx: Database | Transaction, handler: string): Promise<PackageKind | null> {
  const [found] = await tx.select({ kind: handlers.kind }).from(handlers).where(eq(handlers.id, handler));
  return found?.kind ?? null;
}

/** Returns the error for a call that is for packages of another kind: 404 with the place of the right calls. */
export const otherKind = (handler: string, kind: PackageKind): DomainError =>
  new DomainError('not_found', kind === 'formula' ? 'handler_is_formula' : 'formula_is_handler', {
    params: { handler },
  });

/**
 * Throws 404 `handler_is_formula` or `formula_is_handler` if the packages of this id are of another kind. With `writes`,
 * the actor must have rights in the namespace.
 */
export async function requireKind(
  ctx: Context,
  handler: string,
  kind: PackageKind,
  { writes = false } = {},
): Promise<void> {
  if (writes) allowNamespace(ctx.actor, parseHandlerId(handler)?.namespace ?? '');
  else allow(ctx.actor, 'viewer');
  const found = await findKind(ctx.db, handler);
  if (found !== null && found !== kind) throw otherKind(handler, found);
}

import { and, eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { handlerVersions } from '#db/schema/index.ts';
import { parseHandlerId } from '#protocol/names.ts';
import { versionKey } from '#protocol/version.ts';
import { DomainError } from '#server/domain/error.ts';
import type { VersionReferenceInput } from './input.ts';

export type VersionRow = typeof handlerVersions.$inferSelect;

/** Finds a version in any spelling; null if it does not exist. `lock` prevents changes until the transaction ends. */
export async function findVersion(
  tx: Database | Transaction,
  { handler, version }: VersionReferenceInput,
  { lock = false } = {},
): Promise<VersionRow | null> {
  const key = versionKey(version);
  if (key === null || parseHandlerId(handler) === null) return null;
  const query = tx
    .select()
    .from(handlerVersions)
    .where(and(eq(handlerVersions.handler, handler), eq(handlerVersions.versionKey, key)));
  const [row] = await (lock ? query.for('update') : query);
  return row ?? null;
}

/**
 * Finds a version. Throws 404 `version_unknown`, or 404 `not_found` for an invalid name, because the error must not
 * repeat the name.
 */
export async function requireVersion(
  tx: Database | Transaction,
  reference: VersionReferenceInput,
  options: { lock?: boolean } = {},
): Promise<VersionRow> {
  const row = await findVersion(tx, reference, options);
  if (row !== null) return row;
  const { handler, version } = reference;
  if (parseHandlerId(handler) === null || versionKey(version) === null) throw new DomainError('not_found', 'not_found');
  throw new DomainError('not_found', 'version_unknown', { params: { handler, version } });
}

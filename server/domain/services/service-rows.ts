import { and, eq, isNull } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { services } from '#db/schema/index.ts';
import { type FormulaManifest, isHandlerManifest } from '#protocol/formula.ts';
import { DomainError } from '#server/domain/error.ts';
import { requireVersion, type VersionRow } from '#server/domain/packages/index.ts';

export type ServiceRow = typeof services.$inferSelect;

/** A version of a formula, and not of a handler. */
export type FormulaVersionRow = Omit<VersionRow, 'manifest'> & { manifest: FormulaManifest };

/** Finds a service that was not removed. */
export async function findService(
  db: Database | Transaction,
  modelId: string,
  name: string,
): Promise<ServiceRow | undefined> {
  const [row] = await db
    .select()
    .from(services)
    .where(and(eq(services.modelId, modelId), eq(services.name, name), isNull(services.removedAt)));
  return row;
}

/** Finds a service that was not removed. Throws 404 `service_unknown`. */
export async function requireService(db: Database | Transaction, modelId: string, name: string): Promise<ServiceRow> {
  const row = await findService(db, modelId, name);
  if (row === undefined) throw new DomainError('not_found', 'service_unknown', { params: { name } });
  return row;
}

/** Rejects changes to a service that is being removed. */
export function requireLiving({ life, name }: ServiceRow): void {
  if (life !== 'alive') throw new DomainError('conflict', 'service_dying', { params: { name } });
}

/**
 * Finds a published version of a formula. A service keeps a version that was withdrawn: `kept` is the version that it
 * has. Throws 404 `version_unknown`, 422 `version_is_handler` | `version_draft` | `version_withdrawn`.
 */
export async function requireFormula(
  db: Database | Transaction,
  reference: { formula: string; version: string },
  kept?: string,
): Promise<FormulaVersionRow> {
  const { formula: handler, version } = reference;
  const row = await requireVersion(db, { handler, version });
  const { manifest, state } = row;
  const params = { handler, version: row.version };
  const refuse = (code: 'version_is_handler' | 'version_draft' | 'version_withdrawn') =>
    new DomainError('unprocessable', code, { params });
  if (isHandlerManifest(manifest)) throw refuse('version_is_handler');
  if (state === 'draft') throw refuse('version_draft');
  if (state === 'withdrawn' && row.version !== kept) throw refuse('version_withdrawn');
  return { ...row, manifest };
}

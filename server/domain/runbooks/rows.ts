import { and, eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { runbooks, runbookVersions } from '#db/schema/index.ts';
import { DomainError } from '#server/domain/error.ts';
import type { RunbookVersionInput } from './input.ts';

export type RunbookVersionRow = typeof runbookVersions.$inferSelect;

/** SQL condition for one version. */
export const onlyVersion = ({ name, version }: RunbookVersionInput) =>
  and(eq(runbookVersions.runbook, name), eq(runbookVersions.version, version));

/** Returns a version. Throws 404 `runbook_unknown` or `runbook_version_unknown`. */
export async function requireRunbookVersion(
  db: Database | Transaction,
  reference: RunbookVersionInput,
): Promise<RunbookVersionRow> {
  const [row] = await db.select().from(runbookVersions).where(onlyVersion(reference));
  if (row !== undefined) return row;
  await requireRunbook(db, reference.name);
  throw new DomainError('not_found', 'runbook_version_unknown');
}

/** Like `requireRunbookVersion`, but locks the runbook until the commit, so that its versions do not change. */
export async function lockRunbookVersion(tx: Transaction, reference: RunbookVersionInput): Promise<RunbookVersionRow> {
  await tx.select().from(runbooks).where(eq(runbooks.name, reference.name)).for('update');
  return requireRunbookVersion(tx, reference);
}

/** Throws 404 `runbook_unknown` if there is no runbook with this name. */
export async function requireRunbook(db: Database | Transaction, name: string): Promise<void> {
  const [row] = await db.select({ name: runbooks.name }).from(runbooks).where(eq(runbooks.name, name));
  if (row === undefined) throw new DomainError('not_found', 'runbook_unknown');
}

import { and, eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { handlerVersions, resources } from '#db/schema/index.ts';
import { versionKey } from '#protocol/index.ts';
import { DomainError } from '#server/domain/error.ts';
import type { VersionRow } from '#server/domain/packages/index.ts';
import type { VersionReference } from './input.ts';
import type { Messages } from './message.ts';

/** Loads a version, in any spelling. Throws 404 `version_unknown`. */
export async function loadVersion(
  tx: Database | Transaction,
  { handler, version }: VersionReference,
  { lock = false } = {},
): Promise<VersionRow> {
  const key = versionKey(version) ?? '';
  const query = tx
    .select()
    .from(handlerVersions)
    .where(and(eq(handlerVersions.handler, handler), eq(handlerVersions.versionKey, key)));
  const [row] = await (lock ? query.for('no key update') : query);
  if (row === undefined) throw new DomainError('not_found', 'version_unknown', { params: { handler, version } });
  return row;
}

/** Loads all languages of a version, sorted by tag. */
export async function loadResources(tx: Database | Transaction, { handler, version }: VersionReference) {
  return tx
    .select()
    .from(resources)
    .where(and(eq(resources.handler, handler), eq(resources.version, version)))
    .orderBy(resources.lang);
}

/** Converts rows for `localizeMessage` and `coverageOf`. */
export function resourcesOf(rows: readonly { lang: string; messages: Messages }[]): Map<string, Messages> {
  return new Map(rows.map(({ lang, messages }) => [lang, messages]));
}

import { and, eq, ne } from 'drizzle-orm';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { resources, type StoredWarning } from '#db/schema/index.ts';
import { canonicalLanguage, lastLanguage, type ResourceFile, read, resourceFileWith } from '#protocol/index.ts';
import { count } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import type { VersionRow } from '#server/domain/packages/index.ts';
import { translationWarnings } from './coverage.ts';
import { loadResources } from './load-version.ts';
import type { Messages } from './message.ts';

const maxIds = 20;

export const storedLanguage = z.object({
  /** A BCP 47 tag in canonical form. */
  lang: z.string(),
  messages: count,
  /** The language's new revision. It increases with every change. */
  revision: count,
  warnings: z.array(z.custom<StoredWarning>()),
});
export type StoredLanguage = z.infer<typeof storedLanguage>;

/** A language to store. It replaces the stored version of the language, if any. */
export interface NewLanguage extends ResourceFile {
  /** The revision that the caller saw, or 0 if there was none; undefined accepts any revision. */
  revision: number | undefined;
}

/**
 * Stores a language of a version that the caller has locked. Storing English checks the other languages again (AZ-L6).
 * Throws 412 if the language no longer has the given revision, and 422 if a version that is not a draft would then have
 * no English.
 */
export async function putLanguage(
  tx: Transaction,
  ctx: Context,
  version: VersionRow,
  { lang, messages: list, revision }: NewLanguage,
): Promise<StoredLanguage> {
  const messages = Object.fromEntries(list.map(({ id, text }) => [id, text]));
  const rows = await loadResources(tx, version);
  const present = rows.find((row) => row.lang === lang);
  if (revision !== undefined && revision !== (present?.revision ?? 0)) {
    const params = { lang, who: present?.updatedBy ?? '–', revision: present?.revision ?? 0 };
    throw new DomainError('precondition_failed', 'resources_moved_on', { params });
  }
  const others = rows.filter((row) => row.lang !== lang);
  const english = lang === lastLanguage ? messages : others.find((row) => row.lang === lastLanguage)?.messages;
  // A draft can receive its languages in any order; any other version must always have English.
  if (english === undefined && version.state !== 'draft') throw withoutEnglish([lang]);

  const places = new Map(list.map(({ id }, index) => [id, `/0/messages/${index}/text`]));
  const warnings = translationWarnings(lang, messages, english, (id) => places.get(id) ?? '');
  const next = (present?.revision ?? 0) + 1;
  const row = { messages, warnings, revision: next, updatedAt: ctx.now, updatedBy: ctx.actor.name, carriedFrom: null };
  await tx
    .insert(resources)
    .values({ handler: version.handler, version: version.version, lang, ...row })
    .onConflictDoUpdate({ target: [resources.handler, resources.version, resources.lang], set: row });
  const elsewhere = lang === lastLanguage ? await updateWarnings(tx, others, messages) : [];

  await recordAudit(tx, ctx, {
    action: 'resources.set',
    target: { kind: 'version', id: `${version.handler}-${version.version}` },
    ...messageChanges(present?.messages, messages),
    details: { handler: version.handler, version: version.version, lang, count: list.length },
  });
  await recordChange(tx, 'handler', version.handler);
  return { lang, messages: list.length, revision: next, warnings: [...warnings, ...elsewhere] };
}

/**
 * Returns what the activity log shows: the number of messages, and the first ids that were added, changed or removed,
 * instead of up to 20,000 texts.
 */
function messageChanges(before: Messages | undefined, after: Messages) {
  const ids = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])];
  const some = (pick: (id: string) => boolean): string[] => ids.filter(pick).slice(0, maxIds);
  return {
    before: before && { messages: Object.keys(before).length },
    after: {
      messages: Object.keys(after).length,
      added: some((id) => before?.[id] === undefined),
      changed: some((id) => before?.[id] !== undefined && after[id] !== undefined && before[id] !== after[id]),
      removed: some((id) => after[id] === undefined),
    },
  };
}

/**
 * Parses a resource file within the portal's limits. Throws 413 if the file is too large, and otherwise 422 with all of
 * its faults.
 */
export function readResourceFile(ctx: Context, named: string, file: unknown): ResourceFile {
  const { fileBytes, messages } = ctx.config.limits.resources;
  if (Buffer.byteLength(JSON.stringify(file) ?? '') > fileBytes) {
    throw new DomainError('too_large', 'resources_too_large', { params: { limit: fileBytes } });
  }
  const lang = canonicalLanguage(named);
  const result = read(resourceFileWith({ messages }), file);
  const faults: Fault[] = 'faults' in result ? [...result.faults] : [];
  if (lang === null) faults.unshift({ path: '', code: 'language_tag' });
  if ('value' in result && lang !== null && result.value.lang !== lang) {
    faults.push({ path: '/0/lang', code: 'language_differs', params: { expected: lang, found: result.value.lang } });
  }
  if ('faults' in result || faults.length > 0) throw new DomainError('unprocessable', 'resources_invalid', { faults });
  return result.value;
}

/** Updates the stored warnings of the other languages after English changed. */
export async function updateWarnings(
  tx: Transaction,
  others: readonly (typeof resources.$inferSelect)[],
  english: Messages,
): Promise<StoredWarning[]> {
  const all: StoredWarning[] = [];
  for (const { handler, version, lang, messages, warnings: before } of others) {
    const warnings = translationWarnings(lang, messages, english, () => '');
    all.push(...warnings);
    if (JSON.stringify(warnings) === JSON.stringify(before)) continue;
    const same = and(eq(resources.handler, handler), eq(resources.version, version), eq(resources.lang, lang));
    await tx
      .update(resources)
      .set({ warnings })
      .where(and(same, ne(resources.lang, lastLanguage)));
  }
  return all;
}

/** Returns the error for languages without `en` (AZ-L1). */
export function withoutEnglish(languages: readonly string[]): DomainError {
  const params = { languages: languages.join(', ') };
  return new DomainError('unprocessable', 'english_missing', {
    params,
    faults: [{ path: '/resources/en', code: 'english_missing', params }],
  });
}

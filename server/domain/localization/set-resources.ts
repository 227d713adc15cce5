import { and, eq, ne } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { resources, type StoredWarning } from '#db/schema/index.ts';
import { canonicalLanguage, type ResourceFile, read, resourceFileWith } from '#protocol/index.ts';
import { allowNamespace } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { translationWarnings } from './coverage.ts';
import { type SetResourcesInput, setResourcesInput } from './input.ts';
import { lastLanguage } from './language.ts';
import { loadResources, loadVersion } from './load-version.ts';
import type { Messages } from './message.ts';
import { namespaceOf } from './namespace.ts';

export interface SetResourcesResult {
  /** Canonical BCP 47. */
  lang: string;
  messages: number;
  warnings: StoredWarning[];
}

/**
 * Puts a resource file in the place of a version's language, also after publishing (AZ-L1, AZ-L2). Setting English
 * looks at the other languages anew (AZ-L6); their warnings come along, each with its `lang`.
 * Throws 422 with every fault of the file, 413 above the limits, 404 for an unknown version.
 */
export async function setResources(ctx: Context, input: SetResourcesInput): Promise<SetResourcesResult> {
  const { file, lang: named, ...reference } = parse(setResourcesInput, input);
  allowNamespace(ctx.actor, namespaceOf(reference.handler));
  const { lang, messages: list } = readFile(ctx, named, file);
  const messages = Object.fromEntries(list.map(({ id, text }) => [id, text]));

  return ctx.db.transaction(async (tx) => {
    const version = await loadVersion(tx, reference, { lock: true });
    const others = (await loadResources(tx, version)).filter((row) => row.lang !== lang);
    const english = lang === lastLanguage ? messages : others.find((row) => row.lang === lastLanguage)?.messages;
    // A draft may get its languages in any order; what is published must never lack English.
    if (english === undefined && version.state !== 'draft') throw withoutEnglish([lang]);

    const places = new Map(list.map(({ id }, index) => [id, `/0/messages/${index}/text`]));
    const warnings = translationWarnings(lang, messages, english, (id) => places.get(id) ?? '');
    const row = { messages, warnings, updatedAt: ctx.now, updatedBy: ctx.actor.name };
    await tx
      .insert(resources)
      .values({ handler: version.handler, version: version.version, lang, ...row })
      .onConflictDoUpdate({ target: [resources.handler, resources.version, resources.lang], set: row });
    const elsewhere = lang === lastLanguage ? await warnOthers(tx, others, messages) : [];

    await recordAudit(tx, ctx, {
      action: 'resources.set',
      target: { kind: 'version', id: `${version.handler}-${version.version}` },
      details: { lang, messages: list.length, warnings: warnings.length },
    });
    await recordChange(tx, 'handler', version.handler);
    return { lang, messages: list.length, warnings: [...warnings, ...elsewhere] };
  });
}

function readFile(ctx: Context, named: string, file: unknown): ResourceFile {
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

/** English changed, so the warnings of the other languages are no longer those that were stored. */
async function warnOthers(
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

/** Languages were given and `en` is not among them (AZ-L1). */
export function withoutEnglish(languages: readonly string[]): DomainError {
  const params = { languages: languages.join(', ') };
  return new DomainError('unprocessable', 'english_missing', {
    params,
    faults: [{ path: '/resources/en', code: 'english_missing', params }],
  });
}

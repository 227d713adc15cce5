import { z } from 'zod';
import type { StoredWarning } from '#db/schema/index.ts';
import { canonicalLanguage, jsonPointer, lastLanguage } from '#protocol/index.ts';
import { allowNamespace } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { translationWarnings } from './coverage.ts';
import { targetLanguage } from './export-xliff.ts';
import { type ImportXliffInput, importXliffInput } from './input.ts';
import { loadResources, loadVersion } from './load-version.ts';
import { type Messages, templateOf } from './message.ts';
import { namespaceOf } from './namespace.ts';
import { putLanguage, readResourceFile } from './put-language.ts';
import { refused } from './xliff/decode.ts';
import { type ReadDocument, type ReadUnit, readXliff } from './xliff/read-xliff.ts';

/** The changes in a translator's file, before or after they are stored. */
export const xliffImport = z.object({
  lang: z.string(),
  /** The language's revision with which the file was compared; once the changes are stored, the new revision. */
  revision: count,
  stored: z.boolean(),
  added: count,
  changed: count,
  same: count,
  /** Number of units without a translation. */
  untranslated: count,
  /** The first 500 changes, in file order. */
  changes: z.array(z.object({ id: z.string(), before: z.string().nullable(), after: z.string() })),
  /**
   * Findings that do not cause a rejection, such as ids that English does not have, differing placeholders, or an
   * outdated source.
   */
  findings: z.array(z.custom<StoredWarning>()),
});
export type XliffImport = z.infer<typeof xliffImport>;

const listed = 500;

/**
 * Maximum bytes of an XLIFF file: four times the maximum of a resource file, because an XLIFF file contains source,
 * target and markup.
 */
export const xliffBytes = ({ resources }: Context['config']['limits']): number => 4 * resources.fileBytes;

/**
 * Imports translations from XLIFF 1.2 or 2.x. Messages that are not in the file are kept. Throws 404 for an unknown
 * version, 413 and 422 like `readXliff`, 422 if the file is for another handler, version or language or if the version
 * has no English, and 412 if the language no longer has the given revision.
 */
export async function importXliff(ctx: Context, input: ImportXliffInput): Promise<XliffImport> {
  const { file, lang: named, dryRun, revision, ...reference } = parse(importXliffInput, input);
  allowNamespace(ctx.actor, namespaceOf(reference.handler));
  const lang = targetLanguage(named);
  const { limits } = ctx.config;
  // Throws 404 before the file is parsed.
  await loadVersion(ctx.db, reference);
  const document = await readXliff(file, { bytes: xliffBytes(limits), units: limits.resources.messages });

  return ctx.db.transaction(async (tx) => {
    const version = await loadVersion(tx, reference, { lock: true });
    requireSame(document, { original: `${version.handler}-${version.version}`, lang });
    const files = await loadResources(tx, version);
    const english = files.find((row) => row.lang === lastLanguage)?.messages;
    if (english === undefined) throw new DomainError('unprocessable', 'xliff_without_english');
    const present = files.find((row) => row.lang === lang);
    const merged = mergeUnits(document.units, english, present?.messages ?? {}, lang);
    const outcome = { ...merged.outcome, lang, revision: present?.revision ?? 0, stored: false };
    if (outcome.changes.length === 0) return outcome;
    const list = Object.entries(merged.messages).map(([id, text]) => ({ id, text }));
    const { messages } = readResourceFile(ctx, lang, [{ version: 1.0, lang, messages: list }]);
    if (dryRun) return outcome;
    const put = await putLanguage(tx, ctx, version, { lang, messages, revision });
    return { ...outcome, revision: put.revision, stored: true };
  });
}

/** Rejects a file for another handler, version or language with 422. */
function requireSame(document: ReadDocument, { original, lang }: { original: string; lang: string }): void {
  const faults: Fault[] = [];
  const found = document.originals.find((each) => each !== original) ?? document.originals[0];
  if (found === undefined) faults.push({ path: '/file', code: 'xliff_not_one' });
  else if (found !== original) {
    faults.push({
      path: '/file/original',
      code: 'xliff_other_version',
      params: { expected: original, found: cut(found) },
    });
  }
  const languages = [
    { path: '/source', named: document.source, expected: lastLanguage },
    { path: '/target', named: document.target, expected: lang },
  ];
  for (const { path, named, expected } of languages) {
    if (named !== null && canonicalLanguage(named) === expected) continue;
    faults.push({ path, code: 'xliff_other_language', params: { expected, found: cut(named ?? '–') } });
  }
  if (faults.length > 0) throw refused(faults);
}

const cut = (name: string): string => (name.length > 100 ? `${name.slice(0, 100)}…` : name);

type Outcome = Omit<XliffImport, 'lang' | 'revision' | 'stored'>;

/** Returns the language's messages with the file's translations, and the outcome: counts, changes and findings. */
function mergeUnits(
  units: readonly ReadUnit[],
  english: Messages,
  present: Messages,
  lang: string,
): { messages: Messages; outcome: Outcome } {
  const messages = new Map(Object.entries(present));
  const outcome: Outcome = { added: 0, changed: 0, same: 0, untranslated: 0, changes: [], findings: [] };
  for (const { id, source, target, line } of units) {
    const path = jsonPointer(['unit', id]);
    const original = templateOf(english, id);
    if (original === undefined) {
      outcome.findings.push({ code: 'xliff_id_unknown', path, params: { id, line } });
      continue;
    }
    if (target === null || target.trim() === '') {
      outcome.untranslated += 1;
      continue;
    }
    if (source !== original) outcome.findings.push({ code: 'xliff_source_moved_on', path, params: { id, line } });
    outcome.findings.push(...translationWarnings(lang, { [id]: target }, { [id]: original }, () => path));
    const before = templateOf(present, id) ?? null;
    if (before === target) {
      outcome.same += 1;
      continue;
    }
    outcome[before === null ? 'added' : 'changed'] += 1;
    if (outcome.changes.length < listed) outcome.changes.push({ id, before, after: target });
    messages.set(id, target);
  }
  return { messages: Object.fromEntries(messages), outcome };
}

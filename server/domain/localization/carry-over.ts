import type { Transaction } from '#db/client.ts';
import { resources } from '#db/schema/index.ts';
import { lastLanguage } from '#protocol/index.ts';
import { allowNamespace } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { carrySettingsSchema, findPreviousVersion, type VersionRow } from '#server/domain/packages/index.ts';
import { parse } from '#server/domain/parse.ts';
import { translationWarnings } from './coverage.ts';
import { type CarryOverInput, carryOverInput } from './input.ts';
import { loadResources, loadVersion } from './load-version.ts';
import { namespaceOf } from './namespace.ts';
import { updateWarnings } from './put-language.ts';

/** What a draft took from the previous version. */
export interface CarriedContents {
  /** The source version; null if no published version is lower. */
  from: string | null;
  languages: string[];
  settingsSchema: boolean;
}

/**
 * Copies the languages and the settings schema that a draft lacks from the highest published version below it. What the
 * draft already has is kept, so a second call changes nothing. A version that is not a draft is left unchanged. Throws
 * 404 `version_unknown`.
 */
export async function carryOver(ctx: Context, input: CarryOverInput): Promise<CarriedContents> {
  const reference = parse(carryOverInput, input);
  allowNamespace(ctx.actor, namespaceOf(reference.handler));
  return ctx.db.transaction(async (tx) => {
    const draft = await loadVersion(tx, reference, { lock: true });
    const source = await findPreviousVersion(tx, draft);
    const none = { from: source?.version ?? null, languages: [], settingsSchema: false };
    if (source === null || draft.state !== 'draft') return none;

    const languages = await carryLanguages(tx, ctx, draft, source);
    const settingsSchema = await carrySettingsSchema(tx, draft, source);
    if (languages.length === 0 && !settingsSchema) return none;
    const { handler, version } = draft;
    await recordAudit(tx, ctx, {
      action: 'version.carry-over',
      target: { kind: 'version', id: `${handler}-${version}` },
      after: { from: source.version, languages, settingsSchema },
      details: { handler, version, from: source.version },
    });
    await recordChange(tx, 'handler', handler);
    return { from: source.version, languages, settingsSchema };
  });
}

/**
 * Copies the languages that the draft lacks. Their warnings refer to the English messages that the draft has after the
 * copy.
 */
async function carryLanguages(tx: Transaction, ctx: Context, draft: VersionRow, source: VersionRow): Promise<string[]> {
  const present = await loadResources(tx, draft);
  const missing = (await loadResources(tx, source)).filter(({ lang }) => present.every((own) => own.lang !== lang));
  if (missing.length === 0) return [];
  const english = [...present, ...missing].find(({ lang }) => lang === lastLanguage)?.messages;
  await tx.insert(resources).values(
    missing.map(({ lang, messages }) => ({
      handler: draft.handler,
      version: draft.version,
      lang,
      messages,
      warnings: translationWarnings(lang, messages, english, () => ''),
      updatedAt: ctx.now,
      updatedBy: ctx.actor.name,
      carriedFrom: source.version,
    })),
  );
  if (english !== undefined && missing.some(({ lang }) => lang === lastLanguage)) {
    await updateWarnings(tx, present, english);
  }
  return missing.map(({ lang }) => lang);
}

import { z } from 'zod';
import { lastLanguage, placeholdersOf } from '#protocol/index.ts';
import { architectures, operatingSystems } from '#protocol/platform.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { getResources, type Messages, type Resources, templateOf } from '#server/domain/localization/index.ts';
import {
  droppedPlatforms,
  executableLosses,
  findPreviousVersion,
  manifestLosses,
  requireVersion,
  settingLosses,
  type VersionReferenceInput,
} from '#server/domain/packages/index.ts';
import { versionReferenceInput } from '#server/domain/packages/input.ts';
import { parse } from '#server/domain/parse.ts';

const differingPlaceholders = z.object({
  lang: z.string(),
  id: z.string(),
  before: z.array(count),
  after: z.array(count),
});

const limited = <Item extends z.ZodType>(item: Item) => z.object({ items: z.array(item), total: count });

/** What a version lacks or requires compared with the highest published version below it. */
export const versionLosses = z.object({
  handler: z.string(),
  version: z.string(),
  /** The version that this version is compared with. If there is none, this is null and every list is empty. */
  previous: z.string().nullable(),
  /** Languages that only the previous version has. */
  languages: z.array(z.string()),
  /** The first 200 message ids that only the previous version has. */
  messages: limited(z.string()),
  /** The first 200 messages whose placeholders differ. */
  placeholders: limited(differingPlaceholders),
  /** Whether only the previous version has a settings schema. */
  isSchemaRemoved: z.boolean(),
  /** JSON pointers of settings that the schema no longer describes, and of settings that it newly requires. */
  settings: z.object({ removed: z.array(z.string()), required: z.array(z.string()) }),
  platforms: z.array(z.object({ os: z.enum(operatingSystems).optional(), arch: z.enum(architectures).optional() })),
  /** Properties of the manifest that are gone: commands and flags; for a formula, relations and hooks. */
  manifest: z.array(z.string()),
  /** Files that both versions contain and that are no longer executable. */
  executables: z.array(z.string()),
});
export type VersionLosses = z.infer<typeof versionLosses>;

const maxListed = 200;
const few = <T>(items: readonly T[]) => ({ items: items.slice(0, maxListed), total: items.length });

/**
 * Compares a version with the highest published version below it, and returns what VMs and readers would lose with an
 * update. Throws 404 `version_unknown`.
 */
export async function listLosses(ctx: Context, input: VersionReferenceInput): Promise<VersionLosses> {
  allow(ctx.actor, 'viewer');
  const after = await requireVersion(ctx.db, parse(versionReferenceInput, input));
  const before = await findPreviousVersion(ctx.db, after);
  const { handler, version } = after;
  const none = { items: [], total: 0 };
  if (before === null) {
    return {
      ...{ handler, version, previous: null, languages: [], messages: none, placeholders: none },
      ...{ isSchemaRemoved: false, settings: { removed: [], required: [] } },
      ...{ platforms: [], manifest: [], executables: [] },
    };
  }
  const [old, current] = await Promise.all([resourcesOf(ctx, before), resourcesOf(ctx, after)]);
  const settings = settingLosses(before, after);
  return {
    ...{ handler, version, previous: before.version },
    ...textLosses(old, current),
    isSchemaRemoved: before.settingsSchema !== null && after.settingsSchema === null,
    settings: { removed: settings.removed.slice(0, maxListed), required: settings.required.slice(0, maxListed) },
    platforms: droppedPlatforms(before.platforms, after.platforms),
    manifest: manifestLosses(before.manifest, after.manifest),
    executables: executableLosses(before.files, after.files).slice(0, maxListed),
  };
}

async function resourcesOf(ctx: Context, reference: VersionReferenceInput): Promise<Resources> {
  const { languages } = await getResources(ctx, reference);
  return new Map(
    languages.map(({ lang, messages }) => [lang, Object.fromEntries(messages.map(({ id, text }) => [id, text]))]),
  );
}

/** Returns removed languages and message ids, and changed placeholders. A blank message counts as missing. */
function textLosses(
  before: Resources,
  after: Resources,
): Pick<VersionLosses, 'languages' | 'messages' | 'placeholders'> {
  const languages = [...before.keys()].filter((lang) => !after.has(lang));
  const kept = filledIds(after);
  const removed = [...filledIds(before)].filter((id) => !kept.has(id));
  const placeholders = [...after].flatMap(([lang, messages]) => differing(lang, before.get(lang), messages));
  // English first, because the other languages are translations from English.
  const sorted = placeholders.toSorted((a, b) => Number(b.lang === lastLanguage) - Number(a.lang === lastLanguage));
  return { languages, messages: few(removed), placeholders: few(sorted) };
}

function filledIds(resources: Resources): Set<string> {
  const english = resources.get(lastLanguage);
  const files = english === undefined ? [...resources.values()] : [english];
  return new Set(files.flatMap((file) => Object.keys(file).filter((id) => templateOf(file, id) !== undefined)));
}

function differing(lang: string, before: Messages | undefined, messages: Messages) {
  return Object.keys(messages).flatMap((id) => {
    const [old, current] = [templateOf(before, id), templateOf(messages, id)];
    if (old === undefined || current === undefined) return [];
    const found = { lang, id, before: placeholdersOf(old), after: placeholdersOf(current) };
    return found.before.join() === found.after.join() ? [] : [found];
  });
}

import type { PackageKind } from '#protocol/formula-words.ts';
import { lastLanguage, versionKey } from '#protocol/index.ts';
import type { Platform } from '#protocol/platform.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import {
  checkSettingsSchema,
  deleteDraft,
  findPreviousVersion,
  getVersion,
  type RegisteredPackage,
  registerPackage,
  setPlatforms,
  setSettingsSchema,
  type UploadedFile,
} from '#server/domain/packages/index.ts';
import { platformsInput } from '#server/domain/packages/input.ts';
import { parse } from '#server/domain/parse.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { carryOver } from './carry-over.ts';
import { getResources } from './get-resources.ts';
import { loadResources } from './load-version.ts';
import { type PublishedVersion, publishVersion } from './publish-version.ts';
import { readResourceFile, withoutEnglish } from './put-language.ts';
import { setResources } from './set-resources.ts';

/** A version with all its parts. `schema`, `platforms` and the values of `resources` are parsed JSON. */
export interface RegisterVersionInput {
  handler: string;
  version: string;
  /** Without a kind, the package may be of either kind. */
  kind?: PackageKind;
  file: UploadedFile;
  schema?: unknown;
  platforms?: unknown;
  resources: readonly unknown[];
  /** Whether missing languages and a missing settings schema are copied from the previous version. */
  carry?: boolean;
  publish: boolean;
}

/** The version, and whether this call created it. */
export type RegisteredVersion = PublishedVersion & { created: boolean };

/**
 * Registers a version from its package, settings schema, platforms and resource files, and publishes it on request
 * (AZ-P7). With `carry`, languages and a schema that the input lacks are copied from the previous version. Throws 422
 * with the faults of all parts; each path begins with its part: `package`, `settings-schema`, `platforms`,
 * `resources/de`. If the call fails, a version that it created is deleted again. Repeating the call changes nothing, or
 * adds what is missing after a crash.
 */
export async function registerVersion(ctx: Context, input: RegisterVersionInput): Promise<RegisteredVersion> {
  const { handler, version, kind, file, schema, platforms, publish } = input;
  const faults = new PartFaults();
  const registered = await faults.of('package', () => registerPackage(ctx, { handler, version, kind, file }));
  try {
    const checked =
      schema === undefined ? undefined : await faults.of('settings-schema', () => checkSettingsSchema(ctx, schema));
    const list =
      platforms === undefined ? undefined : await faults.of('platforms', async () => readPlatforms(platforms));
    const files = await readFiles(ctx, input.resources, faults);
    if (publish) await faults.of('resources', () => requireEnglish(ctx, input, files));
    faults.throwIfAny();
    if (checked !== undefined) await keepSchema(ctx, input, checked);
    if (list) await keepPlatforms(ctx, input, list);
    await keepResources(ctx, input, files);
    if (input.carry) await carryOver(ctx, { handler, version });
    return await answer(ctx, registered as RegisteredPackage, publish);
  } catch (error) {
    if (registered?.created) await removeDraft(ctx, registered);
    throw error;
  }
}

async function removeDraft(ctx: Context, { handler, version }: RegisteredPackage): Promise<void> {
  await deleteDraft(ctx, { handler, version }).catch((cause: unknown) =>
    ctx.log.warn({ cause, handler, version }, 'the draft of a rejected registration was not deleted'),
  );
}

interface LanguageFile {
  lang: string;
  file: unknown;
  messages: Record<string, string>;
}

async function readFiles(ctx: Context, files: readonly unknown[], faults: PartFaults): Promise<LanguageFile[]> {
  const read: LanguageFile[] = [];
  for (const [index, file] of files.entries()) {
    const lang = langOf(file);
    const content = await faults.of(`resources/${lang ?? index + 1}`, async () =>
      readResourceFile(ctx, lang ?? lastLanguage, file),
    );
    if (content === null) continue;
    const messages = Object.fromEntries(content.messages.map(({ id, text }) => [id, text]));
    if (read.some((other) => other.lang === content.lang)) faults.add(`resources/${content.lang}`, 'language_twice');
    read.push({ lang: content.lang, file, messages });
  }
  return read;
}

/**
 * Returns the language that a resource file declares; null if it declares none. The schema of the file then reports the
 * missing language.
 */
function langOf(file: unknown): string | null {
  const lang = Array.isArray(file) ? (file[0] as { lang?: unknown } | undefined)?.lang : undefined;
  return typeof lang === 'string' ? lang : null;
}

/** Requires English if the version would have any languages: stored, given, or carried over. */
async function requireEnglish(
  ctx: Context,
  input: RegisterVersionInput,
  files: readonly LanguageFile[],
): Promise<void> {
  const present = await languagesOf(ctx, input);
  const carried = input.carry ? await languagesBefore(ctx, input) : [];
  const all = new Set([...present.keys(), ...carried, ...files.map(({ lang }) => lang)]);
  if (all.size > 0 && !all.has(lastLanguage)) throw withoutEnglish([...all]);
}

/** Returns the languages that `carryOver` would find in the previous version. */
async function languagesBefore({ db }: Context, { handler, version }: RegisterVersionInput): Promise<string[]> {
  const source = await findPreviousVersion(db, { handler, versionKey: versionKey(version) ?? '' });
  return source === null ? [] : (await loadResources(db, source)).map(({ lang }) => lang);
}

async function languagesOf(ctx: Context, { handler, version }: RegisterVersionInput) {
  const none = new Map<string, Record<string, string>>();
  const found = await getResources(ctx, { handler, version }).catch((error: unknown) => {
    if (error instanceof DomainError && error.kind === 'not_found') return null;
    throw error;
  });
  if (found === null) return none;
  return new Map(
    found.languages.map(({ lang, messages }) => [lang, Object.fromEntries(messages.map(({ id, text }) => [id, text]))]),
  );
}

/** Stores the schema if it differs. A published version rejects another schema. */
async function keepSchema(ctx: Context, { handler, version }: RegisterVersionInput, schema: unknown): Promise<void> {
  const { settingsSchema } = await getVersion(ctx, { handler, version });
  if (canonicalJson(settingsSchema) === canonicalJson(schema)) return;
  await setSettingsSchema(ctx, { handler, version, schema });
}

const readPlatforms = (given: unknown): Platform[] => parse(platformsInput, given).platforms;

/** Stores the platforms if they differ. A published version rejects other platforms. */
async function keepPlatforms(
  ctx: Context,
  { handler, version }: RegisterVersionInput,
  platforms: Platform[],
): Promise<void> {
  const present = await getVersion(ctx, { handler, version });
  if (canonicalJson(present.platforms) === canonicalJson(platforms)) return;
  await setPlatforms(ctx, { handler, version, platforms });
}

/** Stores each language whose messages differ: English first, because the other languages are compared with it. */
async function keepResources(ctx: Context, input: RegisterVersionInput, files: readonly LanguageFile[]): Promise<void> {
  const { handler, version } = input;
  const present = await languagesOf(ctx, input);
  const englishFirst = files.toSorted((a, b) => Number(b.lang === lastLanguage) - Number(a.lang === lastLanguage));
  for (const { lang, file, messages } of englishFirst) {
    if (canonicalJson(present.get(lang) ?? null) === canonicalJson(messages)) continue;
    await setResources(ctx, { handler, version, lang, file });
  }
}

async function answer(ctx: Context, registered: RegisteredPackage, publish: boolean): Promise<RegisteredVersion> {
  const { handler, version } = registered;
  if (publish) return { created: registered.created, ...(await publishVersion(ctx, { handler, version })) };
  const { languages } = await getResources(ctx, { handler, version });
  const warnings = languages.flatMap(({ lang, warnings: own }) =>
    own.map((warning) => ({ ...warning, path: `resources/${lang}#${warning.path}` })),
  );
  return {
    ...registered,
    warnings: [...registered.warnings, ...warnings],
    languages: languages.map(({ lang }) => lang),
    publishedAt: null,
  };
}

/** Collects the faults of all parts before rejecting. */
class PartFaults {
  private readonly faults: Fault[] = [];

  add(path: string, code: Fault['code'], params?: Fault['params']): void {
    this.faults.push({ path, code, ...(params && { params }) });
  }

  /** Runs `work`; returns null and keeps the faults if the part has faults. Rethrows other errors. */
  async of<Result>(part: string, work: () => Promise<Result>): Promise<Result | null> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'unprocessable') throw error;
      const { faults, code, params } = error;
      if (faults.length === 0) this.add(part, code, params);
      for (const fault of faults) this.faults.push({ ...fault, path: pathIn(part, fault.path) });
      return null;
    }
  }

  throwIfAny(): void {
    if (this.faults.length > 0) throw new DomainError('unprocessable', 'version_invalid', { faults: this.faults });
  }
}

/** In the package, a path is the name of a file; in the JSON parts, a path is a JSON pointer. */
function pathIn(part: string, path: string): string {
  if (path === '') return part;
  return path.startsWith('/') ? `${part}#${path}` : `${part}/${path}`;
}

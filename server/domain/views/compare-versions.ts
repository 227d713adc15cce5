import { z } from 'zod';
import type { PackageFile, VersionState } from '#db/schema/index.ts';
import type { Platform } from '#protocol/platform.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { getResources } from '#server/domain/localization/index.ts';
import { getVersion, listChecksums, type VersionDetails } from '#server/domain/packages/index.ts';
import { parse } from '#server/domain/parse.ts';

const version = z.string().max(64);
export const compareVersionsInput = z.object({ handler: z.string().max(192), a: version, b: version });
export type CompareVersionsInput = z.input<typeof compareVersionsInput>;

interface Side {
  version: string;
  state: VersionState;
  manifest: string;
  /** Pretty-printed JSON; null if absent. */
  schema: string | null;
  /** Empty if every platform is supported. */
  platforms: Platform[];
  size: number;
}

/** A file or message that only one side has, or that differs. */
export interface Changed<T> {
  name: string;
  before: T | null;
  after: T | null;
}

export interface VersionComparison {
  handler: string;
  a: Side;
  b: Side;
  /** The first 500 files that differ, with sizes in bytes. `same` counts identical files. */
  files: { changed: Changed<number>[]; total: number; same: number };
  /** The first 200 English messages that differ. */
  messages: { changed: Changed<string>[]; total: number; same: number };
  /** Number of added, removed and changed messages per language. */
  languages: { lang: string; added: number; removed: number; changed: number }[];
}

const listed = { files: 500, messages: 200 };

/**
 * Returns the differences between two versions: files, manifest, messages, schema and platforms. Throws 404 if one of
 * them is unknown.
 */
export async function compareVersions(ctx: Context, input: CompareVersionsInput): Promise<VersionComparison> {
  allow(ctx.actor, 'viewer');
  const { handler, a, b } = parse(compareVersionsInput, input);
  const [before, after] = await Promise.all([
    getVersion(ctx, { handler, version: a }),
    getVersion(ctx, { handler, version: b }),
  ]);
  const [files, texts] = await Promise.all([filesOf(ctx, before, after), textsOf(ctx, before, after)]);
  return { handler: after.handler, a: sideOf(before), b: sideOf(after), files, ...texts };
}

function sideOf({ version, state, manifestText, settingsSchema, platforms, size }: VersionDetails): Side {
  const schema = settingsSchema === null ? null : JSON.stringify(settingsSchema, null, 2);
  return { version, state, manifest: manifestText, schema, platforms, size };
}

async function filesOf(ctx: Context, a: VersionDetails, b: VersionDetails): Promise<VersionComparison['files']> {
  const [left, right] = await Promise.all([listChecksums(ctx, a.sha256), listChecksums(ctx, b.sha256)]);
  const sizes = (files: readonly PackageFile[]) => new Map(files.map(({ name, size }) => [name, size]));
  const differs = (name: string) => left.get(name) !== right.get(name);
  return difference(sizes(a.files), sizes(b.files), listed.files, differs);
}

async function textsOf(
  ctx: Context,
  a: VersionDetails,
  b: VersionDetails,
): Promise<Pick<VersionComparison, 'messages' | 'languages'>> {
  const [left, right] = await Promise.all([textsByLanguage(ctx, a), textsByLanguage(ctx, b)]);
  const none = new Map<string, string>();
  const all = [...new Set([...right.keys(), ...left.keys()])];
  const languages = all.map((lang) => {
    const { changed } = difference(left.get(lang) ?? none, right.get(lang) ?? none, Number.POSITIVE_INFINITY);
    const added = changed.filter(({ before }) => before === null).length;
    const removed = changed.filter(({ after }) => after === null).length;
    return { lang, added, removed, changed: changed.length - added - removed };
  });
  return { messages: difference(left.get('en') ?? none, right.get('en') ?? none, listed.messages), languages };
}

async function textsByLanguage(ctx: Context, { handler, version }: VersionDetails) {
  const { languages } = await getResources(ctx, { handler, version });
  return new Map(
    languages.map(({ lang, messages }) => [lang, new Map(messages.map(({ id, text }) => [id, text]))] as const),
  );
}

/** Returns the keys whose values differ, and the keys for which `differs` is true although their values are equal. */
function difference<T extends string | number>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  limit: number,
  differs: (name: string) => boolean = () => false,
): { changed: Changed<T>[]; total: number; same: number } {
  const order = new Intl.Collator('en', { numeric: true });
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const changed = names
    .filter((name) => before.get(name) !== after.get(name) || differs(name))
    .sort(order.compare)
    .map((name) => ({ name, before: before.get(name) ?? null, after: after.get(name) ?? null }));
  return { changed: changed.slice(0, limit), total: changed.length, same: names.length - changed.length };
}

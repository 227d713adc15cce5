import { inArray, sql } from 'drizzle-orm';
import { z } from 'zod';
import { auditEntries, handlerVersions } from '#db/schema/index.ts';
import type { WantedLanguage } from '#protocol/index.ts';
import { jsonPointer } from '#protocol/pointer.ts';
import type { Context } from '#server/domain/context.ts';
import { findMessages, localizeMessage, settingWordId } from '#server/domain/localization/index.ts';
import { maySeeContents } from './activity-filter.ts';
import type { StoredAct } from './columns.ts';
import { type Difference, differencesOf } from './diff.ts';

/** A changed part of a target, short enough for a sentence. */
export interface NamedChange {
  kind: (typeof order)[number];
  /**
   * For a setting, its title in the handler's schema or its key. For a tag or an extension, its name. Otherwise null.
   */
  name: string | null;
  /** Null if the values are secret, too long for a sentence, or neither text, number nor boolean. */
  values: { before: ShortValue; after: ShortValue } | null;
}

/** A value before or after a change; null if it is absent on that side. */
export type ShortValue = string | number | boolean | null;

/** The first changes of an entry, and the number of further changes. */
export interface NamedChanges {
  items: NamedChange[];
  more: number;
}

/** Kinds in the order in which a sentence names them. */
const order = [
  'version',
  'state',
  'setting',
  'settings',
  'secret',
  'removedSecret',
  'secrets',
  'dependencies',
  'timeouts',
  'upgrades',
  'name',
  'role',
  'namespaces',
  'scripts',
  'tag',
  'extension',
] as const;

/** Number of changes that a sentence names. */
const maxNamed = 2;
/** Maximum length of a value in a sentence. */
const maxValueLength = 40;
/** Maximum length of a translated title in a sentence. */
const maxTitleLength = 100;
/** Maximum number of entries whose values are in memory at the same time, because each can take 32 KiB. */
const entriesAtOnce = 100;

const kindOfField: Readonly<Record<string, NamedChange['kind']>> = {
  version: 'version',
  state: 'state',
  dependsOn: 'dependencies',
  timeouts: 'timeouts',
  autoUpgradeMinorVersion: 'upgrades',
  name: 'name',
  role: 'role',
  namespaces: 'namespaces',
  scripts: 'scripts',
};

/** Actions whose sentences name the changed parts. */
const actions = ['extension.set', 'vm.update', 'member.update', 'goal-state.revert'];

/**
 * Returns what each entry changed, by entry id. Entries whose sentences name no changes, and entries whose contents the
 * caller cannot see, are omitted. Settings have their titles in the preferred languages.
 */
export async function nameChanges(
  ctx: Context,
  rows: readonly StoredAct[],
  wanted: readonly WantedLanguage[],
): Promise<ReadonlyMap<number, NamedChanges>> {
  const ids = rows.filter((row) => actions.includes(row.action) && maySeeContents(ctx.actor, row)).map(({ id }) => id);
  const named = new Map<number, NamedChanges>();
  for (let from = 0; from < ids.length; from += entriesAtOnce) {
    const { id, action, before, after, details } = auditEntries;
    const entries = await ctx.db
      .select({ id, action, before, after, details })
      .from(auditEntries)
      .where(inArray(id, ids.slice(from, from + entriesAtOnce)));
    const changed = entries.flatMap((entry) =>
      entry.before === null || entry.after === null
        ? []
        : [
            {
              ...entry,
              after: entry.after,
              secrets: loggedSecrets(entry.details),
              ...differencesOf(entry.before, entry.after),
            },
          ],
    );
    const titles = await readTitles(
      ctx,
      changed.flatMap((entry) => (entry.action === 'extension.set' ? [entry] : [])),
      wanted,
    );
    for (const entry of changed) {
      const all = entry.action === 'goal-state.revert' ? extensionsOf(entry.items) : partsOf(entry, titles);
      if (all.length === 0) continue;
      all.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
      named.set(entry.id, { items: all.slice(0, maxNamed), more: Math.max(0, all.length - maxNamed) + entry.more });
    }
  }
  return named;
}

function extensionsOf(differences: readonly Difference[]): NamedChange[] {
  const names = new Set(differences.flatMap(({ path }) => path.slice(0, 1)));
  return [...names].map((name) => ({ kind: 'extension', name, values: null }));
}

/** The protected settings that an entry changed, by the names that the schema defines. */
interface LoggedSecrets {
  set: string[];
  removed: string[];
  /** Number of changed settings whose names the schema does not define. */
  others: number;
}

const loggedSchema = z.object({ set: z.array(z.string()), removed: z.array(z.string()), others: z.number() });

/** Returns null for entries from releases that did not record the names. */
function loggedSecrets({ protectedSettings }: Record<string, unknown>): LoggedSecrets | null {
  return loggedSchema.safeParse(protectedSettings).data ?? null;
}

interface ChangedExtension {
  after: Record<string, unknown>;
  secrets: LoggedSecrets | null;
}

function secretsOf({ after, secrets }: ChangedExtension, titles: Titles): NamedChange[] {
  const only = titles.ofOnlySecret(after);
  const several: NamedChange = { kind: 'secrets', name: null, values: null };
  if (secrets === null) return [only === null ? several : { kind: 'secret', name: only, values: null }];
  const named = (kind: 'secret' | 'removedSecret', keys: readonly string[]) =>
    keys.map((key): NamedChange => ({ kind, name: titles.ofSecret(after, key), values: null }));
  return [
    ...named('secret', secrets.set),
    ...named('removedSecret', secrets.removed),
    ...(secrets.others > 0 ? [several] : []),
  ];
}

function partsOf(
  { items, ...extension }: ChangedExtension & { items: readonly Difference[] },
  titles: Titles,
): NamedChange[] {
  const { after } = extension;
  const parts = new Map<string, NamedChange>();
  for (const difference of items) {
    const { path } = difference;
    const [field = '', ...rest] = path;
    const values = valuesOf(difference);
    const put = (change: NamedChange) => parts.set(`${change.kind} ${change.name}`, change);
    if (field === 'publicSettings') {
      const [key] = rest;
      if (key === undefined) put({ kind: 'settings', name: null, values: null });
      else put({ kind: 'setting', name: [titles.of(after, key), ...rest.slice(1)].join(' › '), values });
    } else if (field === 'protectedSettings') {
      for (const change of secretsOf(extension, titles)) put(change);
    } else if (field === 'tags') put({ kind: 'tag', name: rest[0] ?? null, values });
    else {
      const kind = kindOfField[field];
      if (kind !== undefined) put({ kind, name: null, values: rest.length === 0 ? values : null });
    }
  }
  return [...parts.values()];
}

function valuesOf({ before, after }: Difference): NamedChange['values'] {
  const [from, to] = [shortValue(before), shortValue(after)];
  return from === undefined || to === undefined || (from === null && to === null) ? null : { before: from, after: to };
}

/** Returns a value for a sentence; undefined if it does not fit. A list of names becomes one text. */
function shortValue(value: unknown): ShortValue | undefined {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    return value.length === 0 ? null : shortValue(value.join(', '));
  }
  return typeof value === 'string' && value.length <= maxValueLength ? value : undefined;
}

/** Titles of settings, from the resource files and schemas of handler versions. */
interface Titles {
  of(extension: Record<string, unknown>, key: string): string;
  ofSecret(extension: Record<string, unknown>, key: string): string;
  /** The title or key of the only protected setting that the schema has; null if it has none or several. */
  ofOnlySecret(extension: Record<string, unknown>): string | null;
}

async function readTitles(
  ctx: Context,
  changed: readonly ChangedExtension[],
  wanted: readonly WantedLanguage[],
): Promise<Titles> {
  const versionOf = ({ handler, version }: Record<string, unknown>) => `${handler} ${version}`;
  const extensions = changed.map(({ after }) => after);
  const used = [...new Map(extensions.map((each) => [versionOf(each), each])).values()];
  const keys = [...new Set(extensions.flatMap(({ publicSettings }) => Object.keys(publicSettings ?? {})))];
  const secretKeys = [
    ...new Set(changed.flatMap(({ secrets }) => [...(secrets?.set ?? []), ...(secrets?.removed ?? [])])),
  ];
  const { rows } =
    used.length === 0
      ? { rows: [] }
      : await ctx.db.execute<TitledSetting>(sql`
        select handler, version, half, key, title, n = 1 as is_only from (
          select v.handler, v.version, h.half, p.key,
            case when json_typeof(p.value -> 'title') = 'string' then left(p.value ->> 'title', 100) end as title,
            count(*) over (partition by v.handler, v.version, h.half) as n
          from ${handlerVersions} v
          cross join (values ('publicSettings'), ('protectedSettings')) h (half)
          cross join lateral json_each(case json_typeof(v.settings_schema -> h.half -> 'properties')
            when 'object' then v.settings_schema -> h.half -> 'properties' else '{}' end) p
          where (v.handler, v.version) in (
            select * from unnest(${sql.param(used.map(({ handler }) => handler))}::text[],
              ${sql.param(used.map(({ version }) => version))}::text[]))
        ) properties
        where half = 'protectedSettings' and (n = 1 or key = any(${sql.param(secretKeys)}::text[])) or half = 'publicSettings' and key = any(${sql.param(keys)}::text[])`);
  const translated = await translateTitles(ctx, rows, wanted);
  const titled = rows.map((row, index) => ({ ...row, shown: translated[index] || row.title || row.key }));
  const nameOf = new Map(titled.map((row) => [`${versionOf(row)} ${row.half} ${row.key}`, row.shown]));
  const secretOf = new Map(
    titled
      .filter(({ half, is_only }) => half === 'protectedSettings' && is_only)
      .map((row) => [versionOf(row), row.shown]),
  );
  return {
    of: (extension, key) => nameOf.get(`${versionOf(extension)} publicSettings ${key}`) ?? key,
    ofSecret: (extension, key) => nameOf.get(`${versionOf(extension)} protectedSettings ${key}`) ?? key,
    ofOnlySecret: (extension) => secretOf.get(versionOf(extension)) ?? null,
  };
}

/** A setting of a handler version, with its title in the schema. */
type TitledSetting = {
  handler: string;
  version: string;
  half: string;
  key: string;
  title: string | null;
  is_only: boolean;
};

/** Returns the title of each setting from the resource files; undefined for a setting without a title there. */
async function translateTitles(
  ctx: Context,
  settings: readonly TitledSetting[],
  wanted: readonly WantedLanguage[],
): Promise<(string | undefined)[]> {
  const requested = settings.map(({ handler, version, half, key }) => {
    return { handler, version, ids: [settingWordId(jsonPointer([half, key]), 'title')] };
  });
  const byVersion = Map.groupBy(requested, ({ handler, version }) => `${handler}-${version}`);
  const found = await findMessages(
    ctx.db,
    [...byVersion.values()].flatMap(([first, ...others]) =>
      first === undefined ? [] : [{ ...first, ids: [first, ...others].flatMap(({ ids }) => ids) }],
    ),
    wanted,
  );
  return requested.map(({ handler, version, ids: [id = ''] }) => {
    const resources = found.get(`${handler}-${version}`) ?? new Map();
    const title = localizeMessage({ message: { id, params: [] }, resources, wanted });
    return title?.source === 'resource' ? title.text.slice(0, maxTitleLength) : undefined;
  });
}

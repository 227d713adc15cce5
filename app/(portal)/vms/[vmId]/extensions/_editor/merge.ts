import type { FormPlan } from '#app/_ui/schema-form/bounded.ts';
import type { SettingsObject } from '#app/_ui/schema-form/form.tsx';
import type { SettingPath } from '#app/_ui/schema-form/surroundings.ts';
import { jsonLeaves } from '#protocol/json-leaves.ts';
import { jsonPointer, pointerPath } from '#protocol/pointer.ts';
import { type DraftChange, shown, titlesOf } from './changes.ts';
import { canonical, commands, type ExtensionDraft, printed } from './draft.ts';

export type ConflictSide = 'theirs' | 'mine';

/** A difference between three declarations: the original, the other person's (`theirs`) and the reader's (`mine`). */
export interface DraftDifference {
  /** Determines the label and the format of the values; its own `before` and `after` are not used. */
  change: DraftChange;
  key: string;
  base: string | undefined;
  theirs: string | undefined;
  mine: string | undefined;
  /**
   * Who changed the value; `both` if each side changed it to a different value, so the reader must choose one of the
   * values.
   */
  by: ConflictSide | 'both';
}

/** The side chosen for each difference, by its `key`. A value that only one side changed needs no choice. */
export type Choices = Readonly<Record<string, ConflictSide>>;

/** Returns every difference between `theirs` and `mine`, in the order of the form's fields. */
export function differencesOf(
  base: ExtensionDraft,
  theirs: ExtensionDraft,
  mine: ExtensionDraft,
  plan: FormPlan | null,
): DraftDifference[] {
  const plain = plainKinds.flatMap(({ kind, at, of }) => difference(kind, at, [], of(base), of(theirs), of(mine)));
  const paths = settingPaths(base.settings, theirs.settings, mine.settings);
  const settings = paths.flatMap((path) => {
    const of = (draft: ExtensionDraft) => textAt(draft.settings, path);
    return difference('setting', jsonPointer(path), titlesOf(path, plan), of(base), of(theirs), of(mine));
  });
  return [...plain, ...settings];
}

/** Returns the conflicts that still need a choice. */
export const openConflicts = (differences: readonly DraftDifference[], choices: Choices): DraftDifference[] =>
  differences.filter(({ by, key }) => by === 'both' && choices[key] === undefined);

/** Returns the side whose value is used; null for a conflict without a choice. */
export const sideOf = ({ by, key }: DraftDifference, choices: Choices): ConflictSide | null =>
  choices[key] ?? (by === 'both' ? null : by);

/**
 * Applies the reader's changes to the other person's declaration. Conflicts without a choice keep the other person's
 * value.
 */
export function merged(
  theirs: ExtensionDraft,
  mine: ExtensionDraft,
  differences: readonly DraftDifference[],
  choices: Choices,
): ExtensionDraft {
  const settings = structuredClone(theirs.settings);
  let draft = theirs;
  for (const one of differences) {
    if (sideOf(one, choices) !== 'mine') continue;
    const { kind, at } = one.change;
    if (kind === 'protected') continue;
    if (kind === 'setting') put(settings, pointerPath(at), mine.settings);
    else if (kind === 'timeout') {
      const command = commands.find((name) => name === at) ?? 'enable';
      draft = { ...draft, timeouts: { ...draft.timeouts, [command]: mine.timeouts[command] } };
    } else draft = { ...draft, [fieldOf[kind]]: mine[fieldOf[kind]] };
  }
  return { ...draft, name: mine.name, settings, text: printed(settings), unread: null };
}

const fieldOf = {
  version: 'version',
  state: 'state',
  autoUpgrade: 'autoUpgradeMinorVersion',
  dependsOn: 'dependsOn',
} as const;

const names = (list: readonly string[]) => (list.length === 0 ? undefined : [...list].sort().join(', '));

const plainKinds: readonly { kind: DraftChange['kind']; at: string; of(draft: ExtensionDraft): string | undefined }[] =
  [
    { kind: 'version', at: '', of: ({ version }) => version },
    { kind: 'state', at: '', of: ({ state }) => state },
    { kind: 'autoUpgrade', at: '', of: ({ autoUpgradeMinorVersion }) => String(autoUpgradeMinorVersion) },
    { kind: 'dependsOn', at: '', of: ({ dependsOn }) => names(dependsOn) },
    ...commands.map((command) => ({
      kind: 'timeout' as const,
      at: command,
      of: ({ timeouts }: ExtensionDraft) => timeouts[command] || undefined,
    })),
  ];

function difference(
  kind: DraftChange['kind'],
  at: string,
  titles: readonly string[],
  base: string | undefined,
  theirs: string | undefined,
  mine: string | undefined,
): DraftDifference[] {
  if (theirs === mine) return [];
  const by = theirs === base ? 'mine' : mine === base ? 'theirs' : 'both';
  return [{ change: { kind, at, titles, before: base, after: mine }, key: `${kind}${at}`, base, theirs, mine, by }];
}

/**
 * Returns the paths at which settings are compared. A path ends where at least one declaration has a value that is not
 * an object.
 */
function settingPaths(...all: readonly SettingsObject[]): SettingPath[] {
  const paths = new Map<string, SettingPath>();
  for (const settings of all) for (const [at, { path }] of jsonLeaves(settings)) paths.set(at, path);
  paths.delete('');
  const isBelowAnother = (at: string) => {
    for (let end = at.lastIndexOf('/'); end > 0; end = at.lastIndexOf('/', end - 1)) {
      if (paths.has(at.slice(0, end))) return true;
    }
    return false;
  };
  return [...paths].filter(([at]) => !isBelowAnother(at)).map(([, path]) => path);
}

function valueAt(settings: SettingsObject, path: SettingPath): { found: boolean; value: unknown } {
  let value: unknown = settings;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) {
      return { found: false, value: undefined };
    }
    value = (value as Record<string | number, unknown>)[part];
  }
  return { found: true, value };
}

function textAt(settings: SettingsObject, path: SettingPath): string | undefined {
  const { found, value } = valueAt(settings, path);
  if (!found) return undefined;
  return typeof value === 'string' ? shown(value) : canonical(value);
}

/**
 * Copies the value at a path from `source`. If `source` has no value there, removes the property, and also each parent
 * object that becomes empty and that `source` does not have.
 */
function put(settings: SettingsObject, path: readonly string[], source: SettingsObject): void {
  const [name, ...rest] = path;
  if (name === undefined) return;
  const from = Object.hasOwn(source, name) ? source[name] : undefined;
  if (rest.length === 0) {
    if (Object.hasOwn(source, name)) define(settings, name, structuredClone(from));
    else delete settings[name];
    return;
  }
  const inner = Object.hasOwn(settings, name) ? settings[name] : undefined;
  const below = isObject(inner) ? inner : {};
  put(below, rest, isObject(from) ? from : {});
  if (Object.keys(below).length === 0 && !isObject(from)) delete settings[name];
  else define(settings, name, below);
}

const isObject = (value: unknown): value is SettingsObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Defines a property, including `__proto__`, which a plain assignment would not store. */
function define(settings: SettingsObject, name: string, value: unknown): void {
  Object.defineProperty(settings, name, { value, enumerable: true, configurable: true, writable: true });
}

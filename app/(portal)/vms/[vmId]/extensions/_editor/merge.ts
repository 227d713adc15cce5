import type { FormPlan } from '#app/_ui/schema-form/bounded.ts';
import type { SettingPath } from '#app/_ui/schema-form/surroundings.ts';
import { jsonLeaves } from '#protocol/json-leaves.ts';
import { jsonPointer, pointerPath } from '#protocol/pointer.ts';
import { type Change, shown, titlesOf } from './changes.ts';
import { canonical, commands, type Draft, printed, type Settings } from './draft.ts';

export type Side = 'theirs' | 'mine';

/** One thing that differs between three declarations: where both started, theirs, and mine. */
export interface Difference {
  /** How it is called and shown: `before` is the common start, `after` is not used. */
  change: Change;
  key: string;
  base: string | undefined;
  theirs: string | undefined;
  mine: string | undefined;
  /** Who changed it. `both`: to different things, and somebody has to choose. */
  by: Side | 'both';
}

/** What was chosen for differences, by their keys. What only one changed needs no choice. */
export type Choices = Readonly<Record<string, Side>>;

/** Everything in which theirs and mine differ, in the order of the form. */
export function differencesOf(base: Draft, theirs: Draft, mine: Draft, plan: FormPlan | null): Difference[] {
  const plain = plainKinds.flatMap(({ kind, at, of }) => difference(kind, at, [], of(base), of(theirs), of(mine)));
  const paths = settingPaths(base.settings, theirs.settings, mine.settings);
  const settings = paths.flatMap((path) => {
    const of = (draft: Draft) => textAt(draft.settings, path);
    return difference('setting', jsonPointer(path), titlesOf(path, plan), of(base), of(theirs), of(mine));
  });
  return [...plain, ...settings];
}

/** Those that are in conflict and for which nobody has chosen. */
export const openConflicts = (differences: readonly Difference[], choices: Choices): Difference[] =>
  differences.filter(({ by, key }) => by === 'both' && choices[key] === undefined);

/** Whose value a difference gets; null while that is open. */
export const sideOf = ({ by, key }: Difference, choices: Choices): Side | null =>
  choices[key] ?? (by === 'both' ? null : by);

/** Theirs with all that is mine put on top. What is open stays theirs. */
export function merged(theirs: Draft, mine: Draft, differences: readonly Difference[], choices: Choices): Draft {
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

const plainKinds: readonly { kind: Change['kind']; at: string; of(draft: Draft): string | undefined }[] = [
  { kind: 'version', at: '', of: ({ version }) => version },
  { kind: 'state', at: '', of: ({ state }) => state },
  { kind: 'autoUpgrade', at: '', of: ({ autoUpgradeMinorVersion }) => String(autoUpgradeMinorVersion) },
  { kind: 'dependsOn', at: '', of: ({ dependsOn }) => names(dependsOn) },
  ...commands.map((command) => ({
    kind: 'timeout' as const,
    at: command,
    of: ({ timeouts }: Draft) => timeouts[command] || undefined,
  })),
];

function difference(
  kind: Change['kind'],
  at: string,
  titles: readonly string[],
  base: string | undefined,
  theirs: string | undefined,
  mine: string | undefined,
): Difference[] {
  if (theirs === mine) return [];
  const by = theirs === base ? 'mine' : mine === base ? 'theirs' : 'both';
  return [{ change: { kind, at, titles, before: base, after: mine }, key: `${kind}${at}`, base, theirs, mine, by }];
}

/** The places at which settings are compared: as deep as all three are objects, and where one is none, the whole. */
function settingPaths(...all: readonly Settings[]): SettingPath[] {
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

function valueAt(settings: Settings, path: SettingPath): { found: boolean; value: unknown } {
  let value: unknown = settings;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) {
      return { found: false, value: undefined };
    }
    value = (value as Record<string | number, unknown>)[part];
  }
  return { found: true, value };
}

function textAt(settings: Settings, path: SettingPath): string | undefined {
  const { found, value } = valueAt(settings, path);
  if (!found) return undefined;
  return typeof value === 'string' ? shown(value) : canonical(value);
}

/** Makes one place what it is in `source`: set, or gone, with the objects that held nothing else. */
function put(settings: Settings, path: readonly string[], source: Settings): void {
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

const isObject = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Also for `__proto__`, which an assignment would take for something else. */
function define(settings: Settings, name: string, value: unknown): void {
  Object.defineProperty(settings, name, { value, enumerable: true, configurable: true, writable: true });
}

import type { ExtensionContents } from '#db/schema/index.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { differingFields } from './differing-fields.ts';
import { effectOf } from './goal-state.ts';

/** One difference between two goal states, with the values that its sentence shows. */
export interface GoalStateChange {
  kind:
    | 'added'
    | 'removed'
    | 'uninstall'
    | 'enabled'
    | 'disabled'
    | 'version'
    | 'setting'
    | 'settings'
    | 'secrets'
    | 'dependencies'
    | 'timeouts'
    | 'policy';
  extension: string;
  /** The old and new value for the kind `setting`, otherwise the old and new version. Empty if there is none. */
  from: string;
  to: string;
  /** Names of the top-level settings that differ, at most `namedFields`. */
  fields: string[];
  /** Number of top-level settings that differ. */
  fieldCount: number;
}

const namedFields = 3;
/** Maximum characters of a value in a sentence. Longer values appear only in the comparison of two goal states. */
const maxValueLength = 24;

/** Lists the differences between `before` and `after` by extension. For secrets, shows only that they changed. */
export function changesBetween(
  before: readonly ExtensionContents[],
  after: readonly ExtensionContents[],
): GoalStateChange[] {
  const changes: GoalStateChange[] = [];
  for (const extension of after) {
    const old = before.find(({ name }) => name === extension.name);
    changes.push(
      ...(old === undefined ? [change('added', extension, '', extension.version)] : differences(old, extension)),
    );
  }
  for (const extension of before) {
    const stays = after.some(({ name }) => name === extension.name);
    if (!stays) changes.push(change('removed', extension, extension.version, ''));
  }
  return changes;
}

function differences(old: ExtensionContents, extension: ExtensionContents): GoalStateChange[] {
  const changes: GoalStateChange[] = [];
  const fields = differingFields(old, extension);
  if (fields.has('state')) changes.push(change(extension.state, extension));
  if (extension.state === 'uninstall') return changes;
  if (fields.has('version')) changes.push(change('version', extension, old.version, extension.version));
  if (fields.has('publicSettings')) changes.push(...settingChanges(old, extension));
  if (fields.has('secretId')) changes.push(change('secrets', extension));
  if (fields.has('dependsOn')) changes.push(change('dependencies', extension));
  if (fields.has('timeouts')) changes.push(change('timeouts', extension));
  const policy = fields.has('autoUpgradeMinorVersion') || fields.has('requestedVersion');
  // A new version changes the requested version too, so a changed policy is listed only if nothing else differs.
  if (policy && changes.length === 0) changes.push(change('policy', extension));
  return changes;
}

function settingChanges(old: ExtensionContents, extension: ExtensionContents): GoalStateChange[] {
  const [before, after] = [old.publicSettings, extension.publicSettings];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const differing = names.filter((name) => canonicalJson(before[name]) !== canonicalJson(after[name]));
  const fields = { fields: differing.slice(0, namedFields), fieldCount: differing.length };
  const [only = ''] = differing;
  const [from, to] = [shortValue(before[only]), shortValue(after[only])];
  if (differing.length > 1 || from === null || to === null) {
    return [{ ...change('settings', extension), ...fields }];
  }
  return [{ ...change('setting', extension, from, to), ...fields }];
}

/** Returns the value as text; null if it is too long or not suitable for a sentence. */
function shortValue(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return null;
  const text = String(value);
  return text !== '' && text.length <= maxValueLength && !/\p{Cc}/u.test(text) ? text : null;
}

function change(kind: GoalStateChange['kind'], { name }: ExtensionContents, from = '', to = ''): GoalStateChange {
  return { kind, extension: name, from, to, fields: [], fieldCount: 0 };
}

/**
 * Returns the contents that a revert to `target` declares: all extensions of `target` except those being uninstalled.
 */
export const revertContents = (target: readonly ExtensionContents[]): ExtensionContents[] =>
  target.filter(({ state }) => state !== 'uninstall');

/**
 * Returns the incarnation of the newest goal state in which an extension was absent or had another version, state or
 * settings; null if there is no such goal state, or if the extension was not enabled there. `newestFirst` need not
 * contain retries or the oldest goal states.
 */
export function revertTarget(
  newestFirst: readonly { incarnation: number; contents: readonly ExtensionContents[] }[],
  name: string,
): number | null {
  const of = (state: (typeof newestFirst)[number] | undefined) =>
    state?.contents.find((extension) => extension.name === name);
  const now = of(newestFirst[0]);
  if (now === undefined) return null;
  const earlier = newestFirst.find((state) => {
    const then = of(state);
    return then === undefined || effectOf(then, now) === 'sequence';
  });
  return earlier && of(earlier)?.state === 'enabled' ? earlier.incarnation : null;
}

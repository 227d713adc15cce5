import type { FormPlan } from '#app/_ui/schema-form/bounded.ts';
import type { SettingsObject } from '#app/_ui/schema-form/form.tsx';
import type { SettingPath } from '#app/_ui/schema-form/surroundings.ts';
import { jsonLeaves } from '#protocol/json-leaves.ts';
import { canonical, commands, type ExtensionDraft } from './draft.ts';

/**
 * A difference between two declarations, with values as text. A value is undefined if the declaration does not have it.
 */
export interface DraftChange {
  kind: 'version' | 'state' | 'autoUpgrade' | 'dependsOn' | 'timeout' | 'setting' | 'protected';
  /** For a setting, its JSON pointer below `publicSettings`; for a timeout, its command; otherwise empty. */
  at: string;
  /** The publisher's titles along the path, outermost first. */
  titles: readonly string[];
  before: string | undefined;
  after: string | undefined;
}

/**
 * Returns all differences, in the order of the form's fields. For a new extension, `before` is null and only settings
 * are compared.
 */
export function changesBetween(
  before: ExtensionDraft | null,
  after: ExtensionDraft,
  plan: FormPlan | null,
): DraftChange[] {
  const plain: DraftChange[] = [];
  const add = (kind: DraftChange['kind'], was: string | undefined, is: string | undefined, at = '') => {
    if (was !== is) plain.push({ kind, at, titles: [], before: was, after: is });
  };
  if (before !== null) {
    add('version', before.version, after.version);
    add('state', before.state, after.state);
    add('autoUpgrade', String(before.autoUpgradeMinorVersion), String(after.autoUpgradeMinorVersion));
    add('dependsOn', names(before.dependsOn), names(after.dependsOn));
    for (const command of commands) {
      add('timeout', before.timeouts[command], after.timeouts[command] || undefined, command);
    }
  }
  return [...plain, ...settingChanges(before?.settings ?? {}, after.settings, plan)];
}

const names = (list: readonly string[]) => (list.length === 0 ? undefined : [...list].sort().join(', '));

function settingChanges(before: SettingsObject, after: SettingsObject, plan: FormPlan | null): DraftChange[] {
  const was = new Map(jsonLeaves(before));
  const is = new Map(jsonLeaves(after));
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((at) => {
    const old = was.get(at);
    const now = is.get(at);
    if (old !== undefined && now !== undefined && canonical(old.value) === canonical(now.value)) return [];
    const path = now?.path ?? old?.path ?? [];
    return [
      {
        kind: 'setting' as const,
        at,
        titles: titlesOf(path, plan),
        before: old && shown(old.value),
        after: now && shown(now.value),
      },
    ];
  });
}

/** Returns the publisher's title for each part of a path, or the part itself if it has no title. */
export function titlesOf(path: SettingPath, plan: FormPlan | null): string[] {
  let schema = plan?.schema;
  return path.map((part) => {
    const below = typeof part === 'number' ? schema?.items : schema?.properties?.[part];
    schema = typeof below === 'object' && !Array.isArray(below) ? below : undefined;
    return schema?.title ?? String(part);
  });
}

export function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

import type { ExtensionView } from '#server/domain/goal-states/index.ts';
import type { SetExtensionInput } from '#server/domain/goal-states/input.ts';
import { isEmptySecret, type ProtectedDraft } from './draft.ts';

/** A draft that changes individual protected settings; the other settings stay. */
export type SingleChange = Extract<ProtectedDraft, { mode: 'change' }>;

/** A protected setting that the draft changes. */
export interface ChangedSetting {
  name: string;
  change: 'add' | 'replace' | 'remove';
}

/** Returns the draft with one setting kept as stored, opened without a value, set, or removed. */
export function withChange(
  draft: SingleChange,
  name: string,
  to: 'keep' | 'empty' | 'remove' | { given: unknown },
): SingleChange {
  const { [name]: _, ...set } = draft.set;
  const remove = draft.remove.filter((other) => other !== name);
  const open = draft.open.filter((other) => other !== name);
  if (to === 'keep') return { ...draft, set, remove, open };
  if (to === 'remove') return { ...draft, set, remove: [...remove, name], open };
  return {
    ...draft,
    set: to === 'empty' ? set : { ...set, [name]: to.given },
    remove,
    open: draft.open.includes(name) ? draft.open : [...open, name],
  };
}

/**
 * Returns the protected settings that the draft changes individually, in the order of the form; empty if the draft
 * keeps, replaces or removes all settings.
 */
export function changedSettings(
  draft: ProtectedDraft,
  present: ExtensionView['protectedSettings'],
  order: readonly string[],
): ChangedSetting[] {
  if (draft.mode !== 'change') return [];
  const stored = new Set(present?.settings.map(({ name }) => name));
  const changed = [
    ...Object.keys(draft.set).map((name) => ({ name, change: stored.has(name) ? 'replace' : 'add' }) as const),
    ...draft.remove.map((name) => ({ name, change: 'remove' }) as const),
  ];
  const place = ({ name }: ChangedSetting) => (order.includes(name) ? order.indexOf(name) : order.length);
  return changed.sort((a, b) => place(a) - place(b));
}

/** Returns the changes that the API accepts; undefined if the draft keeps, replaces or removes all settings. */
export function changesOf(draft: ProtectedDraft): SetExtensionInput['changes'] {
  return draft.mode === 'change' && !isUntouched(draft) ? { set: draft.set, remove: [...draft.remove] } : undefined;
}

/**
 * Converts changes to individual settings into a draft that replaces all settings, for an extension without stored
 * settings.
 */
export function asWhole(draft: ProtectedDraft): ProtectedDraft {
  if (draft.mode !== 'change') return draft;
  return { mode: 'replace', values: draft.set, text: JSON.stringify(draft.set, null, 2), unread: false };
}

/** Whether the draft changes no setting, even if inputs are open. */
export const isUntouched = ({ set, remove }: SingleChange): boolean => isEmptySecret(set) && remove.length === 0;

'use client';

import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ExtensionView } from '#server/domain/goal-states/index.ts';
import type { SetExtensionInput } from '#server/domain/goal-states/input.ts';
import { changesBetween, type DraftChange } from './changes.ts';
import { draftOf, type ExtensionDraft, emptyDraft, type Goal, goalOf, type ProtectedDraft, printed } from './draft.ts';
import { fieldsOf } from './protected-form.tsx';
import { emptyReplacement } from './protected-settings.tsx';
import { changeOfSecrets, type DraftSecretChange } from './secret-change.ts';
import { type ChangedSetting, changedSettings, changesOf } from './single-change.ts';
import { type EditorStart, type LiveExtension, useLive } from './use-live.ts';
import { type SchemaOfVersion, type SettingWordsByPointer, type UsedSchema, useSchema } from './use-schema.ts';

/** The declaration and the goal state that the draft started from. */
export interface Base {
  extension: ExtensionView | null;
  incarnation: number;
}

export interface EditingStart extends EditorStart {
  handler: string;
  /** The initial version and its schema. */
  first: { version: string; schema: SchemaOfVersion; words: SettingWordsByPointer };
  suggestedName?: string;
  /** The version in the page's URL, if any. */
  chosenVersion?: string | undefined;
}

export type SecretChanges = SetExtensionInput['changes'];

export interface Editing {
  base: Base;
  /** The draft before any change. */
  start: ExtensionDraft;
  isNew: boolean;
  draft: ExtensionDraft;
  setDraft(draft: ExtensionDraft | ((before: ExtensionDraft) => ExtensionDraft)): void;
  secrets: ProtectedDraft;
  setSecrets(secrets: ProtectedDraft): void;
  /**
   * Other extensions of the handler on this VM whose version differs from the draft's. All must use the same version,
   * so the reader can choose to change these too (`takesSiblings`).
   */
  siblings: readonly string[];
  takesSiblings: boolean;
  setTakesSiblings(takes: boolean): void;
  used: UsedSchema;
  /** A sentence that says why stored protected settings must be replaced. */
  mustReplace: string | undefined;
  goal: Goal;
  /** Changes to individual protected settings, which the API accepts in addition to the goal. */
  secretChanges: SecretChanges;
  changes: readonly DraftChange[];
  secretChange: DraftSecretChange;
  /** The protected settings that change individually; empty if all are replaced or removed as a whole. */
  changedSettings: readonly ChangedSetting[];
  dirty: boolean;
  live: LiveExtension;
  /** Whether someone else changed this extension while the draft had changes. */
  overtaken: boolean;
  /** Who made the change that was loaded into an unmodified draft. */
  adopted: string | null;
  /** Continues from another declaration with the given draft. */
  continueFrom(base: Base, draft: ExtensionDraft, secrets: ProtectedDraft | null): void;
}

/** Returns a draft, the declaration that it started from, and what other people have changed since. */
export function useEditing(from: EditingStart, rests: boolean): Editing {
  const { handler, first, suggestedName = '', chosenVersion } = from;
  const [base, setBase] = useState<Base>({ extension: from.extension, incarnation: from.goalState.incarnation });
  const isNew = base.extension === null;
  const start = useMemo(
    () => (base.extension === null ? emptyDraft(suggestedName, first.version) : draftOf(base.extension)),
    [base.extension, suggestedName, first.version],
  );
  const [draft, setDraft] = useState<ExtensionDraft>({ ...start, version: chosenVersion ?? start.version });
  const used = useSchema(handler, draft.version, first);
  const [chosen, setSecrets] = useState<ProtectedDraft | null>(null);
  const secrets = chosen ?? (isNew && used.protectedForm.kind === 'fields' ? emptyReplacement : keep);
  const [takesSiblings, setTakesSiblings] = useState(false);
  const [adopted, setAdopted] = useState<string | null>(null);
  const followed = useLive(from);
  // An extension that is being created cannot have been deleted.
  const live = isNew && followed.gone === 'extension' ? { ...followed, gone: null } : followed;

  const present = base.extension?.protectedSettings ?? null;
  const changes = useMemo(
    () => changesBetween(isNew ? null : start, draft, used.plan),
    [isNew, start, draft, used.plan],
  );
  const secretChange = changeOfSecrets(secrets, present !== null);
  const textChanged = draft.unread !== null || printed(draft.settings) !== printed(start.settings);
  const dirty = changes.length > 0 || secretChange !== null || textChanged || draft.name !== start.name;
  const siblings = live.goalState.extensions
    .filter((other) => other.handler === handler && other.name !== draft.name && other.state !== 'uninstall')
    .filter((other) => other.version !== draft.version)
    .map(({ name }) => name);

  const isOtherSchema = present !== null && hasOtherSchema(first.schema, used.schema);
  const { goal, secretChanges } = useGoal({ handler, draft, secrets, present, isOtherSchema });

  const latest = live.extension;
  const moved = base.extension !== null && latest !== undefined && latest.incarnation > base.incarnation;
  const extensionChanged = moved && base.extension !== null && differs(base.extension, latest);
  const others = live.goalState.incarnation;
  useEffect(() => {
    if (rests) return;
    // Always adopts changes to other extensions, but adopts changes to this extension only while the draft is
    // unmodified.
    if (isNew && others > base.incarnation) setBase((before) => ({ ...before, incarnation: others }));
    if (!moved || (extensionChanged && dirty)) return;
    setBase({ extension: latest, incarnation: latest.incarnation });
    if (extensionChanged) {
      setDraft(draftOf(latest));
      setAdopted(latest.changedBy);
    }
  }, [moved, extensionChanged, dirty, latest, rests, isNew, others, base.incarnation]);

  return {
    base,
    start,
    isNew,
    draft,
    setDraft,
    secrets,
    setSecrets,
    siblings,
    takesSiblings: takesSiblings && siblings.length > 0,
    setTakesSiblings,
    used,
    mustReplace: useMustReplace(present, isOtherSchema, draft.version),
    goal,
    secretChanges,
    changes,
    secretChange,
    changedSettings: changedSettings(secrets, present, definedNames(used)),
    dirty,
    live,
    overtaken: extensionChanged && dirty,
    adopted: dirty ? null : adopted,
    continueFrom(next, with_, secrets_) {
      setBase(next);
      setDraft(with_);
      setSecrets(secrets_);
    },
  };
}

const keep: ProtectedDraft = { mode: 'keep' };

interface GoalSources {
  handler: string;
  draft: ExtensionDraft;
  secrets: ProtectedDraft;
  present: ExtensionView['protectedSettings'];
  isOtherSchema: boolean;
}

/** Returns what the API accepts: the declaration, and the changes to individual protected settings. */
function useGoal({ handler, draft, secrets, present, isOtherSchema }: GoalSources) {
  const hasSecrets = present !== null;
  const keeps = secrets.mode === 'keep' || secrets.mode === 'change';
  const isCheckedAgain = isOtherSchema && keeps && present?.obstacle === null;
  const goal = useMemo(() => goalOf(handler, draft, secrets, hasSecrets), [handler, draft, secrets, hasSecrets]);
  const secretChanges = useMemo(
    () => changesOf(secrets) ?? (isCheckedAgain ? allKept : undefined),
    [secrets, isCheckedAgain],
  );
  return { goal, secretChanges };
}

/** Keeps all protected settings, but makes the portal check them against the schema of another version. */
const allKept: SecretChanges = { set: {}, remove: [] };

const definedNames = ({ protectedForm }: UsedSchema): string[] =>
  protectedForm.kind === 'fields' ? fieldsOf(protectedForm).map(({ name }) => name) : [];

/** Whether the chosen version and the current version have different schemas for protected settings. */
const hasOtherSchema = (before: SchemaOfVersion, now: SchemaOfVersion | undefined): boolean =>
  now?.protectedSettings !== undefined &&
  JSON.stringify(now.protectedSettings) !== JSON.stringify(before?.protectedSettings);

/** Returns a sentence that says why stored protected settings must be replaced; undefined if they can be kept. */
function useMustReplace(
  present: ExtensionView['protectedSettings'],
  isOtherSchema: boolean,
  version: string,
): string | undefined {
  const { t } = useTranslation('editor');
  if (present === null) return undefined;
  if (present.needsSecrets) return t('protected.needs');
  return isOtherSchema && present.obstacle !== null ? t('protected.otherSchema', { version }) : undefined;
}

/**
 * Whether the extension itself changed. Ignores `incarnation`, which also increases when only other extensions of the
 * VM change.
 */
export function differs(before: ExtensionView, after: ExtensionView): boolean {
  const contents = ({ incarnation: _, ...rest }: ExtensionView) => JSON.stringify(rest);
  return contents(before) !== contents(after);
}

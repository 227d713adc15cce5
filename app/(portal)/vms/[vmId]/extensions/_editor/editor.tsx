'use client';

import { useQueryClient } from '@tanstack/react-query';
import { type Ref, useEffect, useMemo, useRef, useState } from 'react';
import { useTRPC } from '#app/_lib/trpc.tsx';
import type { JsonEditorHandle } from '#app/_ui/json-editor.tsx';
import { ConflictCard, type Newer } from './conflict-card.tsx';
import type { PlanSubject } from './corrected.ts';
import { DependencyCard } from './dependency-card.tsx';
import { canonical, type ExtensionDraft, printed, withSettings } from './draft.ts';
import { EditorHeader } from './editor-header.tsx';
import { Foot } from './foot.tsx';
import { JsonCard } from './json-card.tsx';
import { LeaveGuard } from './leave-guard.tsx';
import { Leaving } from './leaving.tsx';
import { Notices } from './notices.tsx';
import { PlanCard } from './plan-card.tsx';
import { SettingsCard } from './settings-card.tsx';
import { asWhole } from './single-change.ts';
import { type Applying, useApply } from './use-apply.ts';
import { useCompare } from './use-compare.ts';
import { type Editing, type EditingStart, useEditing } from './use-editing.ts';
import { type Faults, useFaults } from './use-faults.ts';
import { type Planned, usePlan } from './use-plan.ts';
import { type Typing, useTyping } from './use-typing.ts';

export interface EditorProps extends EditingStart {
  versions: readonly { version: string; state: string }[];
}

/** Edits one extension of one VM: a form next to its JSON, a preview of the changes, and buttons to apply them. */
export function Editor({ versions, ...from }: EditorProps) {
  const { vm, handler } = from;
  const json = useRef<JsonEditorHandle>(null);
  const [newer, setNewer] = useState<Newer | null>(null);
  const [active, setActive] = useState('');
  const applying = useApply(vm, () => compare());
  const editing = useEditing(from, applying.busy || applying.done || newer !== null);
  const { base, draft, setDraft, start, isNew, secrets, used, goal, live, dirty } = editing;
  const compare = useCompare(vm.id, editing, setNewer);
  const typing = useTyping(editing);
  const { planned, plan } = useCurrentPlan(vm.id, editing, { isApplied: applying.done, isComparing: newer !== null });
  const otherExtensions = live.goalState.extensions.filter(({ name }) => name !== draft.name);
  const taken = isNew && otherExtensions.length < live.goalState.extensions.length && !applying.done;
  const { mustReplace, secretChanges } = editing;
  const subject = useMemo(
    () => ({ name: draft.name, goal, changes: secretChanges }),
    [draft.name, goal, secretChanges],
  );
  const faults = useFaults({ planned, subject, draft, secrets, taken, mustReplace, active });
  useForgetRefusal(applying, subject);

  function continueWith(merged: ExtensionDraft, keepsSecrets: boolean) {
    if (newer === null) return;
    const kept = keepsSecrets && secrets.mode !== 'keep' ? secrets : null;
    editing.continueFrom(newer, merged, newer.extension?.protectedSettings ? kept : kept && asWhole(kept));
    setNewer(null);
    applying.forget();
  }

  if (base.extension?.state === 'uninstall' && !dirty) return <Leaving vm={vm} name={start.name} />;
  const editJson = (at: string) => json.current?.goTo({ pointer: at });
  return (
    <>
      <LeaveGuard active={dirty && !applying.done} />
      <EditorHeader vm={vm} handler={handler} version={draft.version} base={base} name={isNew ? null : start.name} />
      {newer === null ? null : (
        <ConflictCard
          newer={newer}
          base={base.extension}
          mine={draft}
          secrets={secrets}
          plan={used.plan}
          onContinue={continueWith}
        />
      )}
      {applying.done || newer !== null ? null : (
        <EditorNotices {...{ vm, editing, applying, planned }} onCompare={() => void compare()} />
      )}
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-2">
        <SettingsCard
          editing={editing}
          versions={versions}
          others={otherExtensions.filter(({ state }) => state !== 'uninstall')}
          faults={faults}
          onSettings={(settings) => setDraft((current) => withSettings(current, settings))}
          onActive={setActive}
          onEditJson={editJson}
        />
        <PreviewColumn {...{ vm, handler, editing, typing, faults, planned, json }} />
      </div>
      <Foot
        faults={faults}
        plan={plan}
        dirty={dirty || isNew}
        blockedBy={newer !== null ? 'comparing' : editing.overtaken ? 'overtaken' : live.gone}
        busy={applying.busy}
        isHeld={live.hold !== null}
        vm={vm}
        onCompare={() => void compare()}
        onApply={() => {
          if (plan !== null) {
            const { takesSiblings: siblings } = editing;
            void applying.apply({ name: draft.name, goal, secretChanges, siblings, plan });
          }
        }}
        onEditJson={editJson}
      />
    </>
  );
}

/** Clears the error of a failed apply as soon as the draft differs from the rejected draft. */
function useForgetRefusal({ refusal, forget }: Applying, subject: PlanSubject): void {
  const text = canonical(subject);
  const rejected = useRef(text);
  useEffect(() => {
    if (refusal === null) rejected.current = text;
    else if (rejected.current !== text) forget();
  }, [refusal, forget, text]);
}

interface EditorNoticesProps {
  vm: EditorProps['vm'];
  editing: Editing;
  applying: Applying;
  planned: Planned;
  onCompare(): void;
}

function EditorNotices({ vm, editing, applying, planned, onCompare }: EditorNoticesProps) {
  const { start, live, goal } = editing;
  return (
    <Notices
      name={start.name}
      vm={vm}
      gone={live.gone}
      changedBy={editing.overtaken ? (live.extension?.changedBy ?? '') : null}
      adopted={editing.adopted}
      refusal={applying.refusal}
      problem={planned.settled ? planned.problem : null}
      settings={goal.settings?.publicSettings ?? {}}
      onCompare={onCompare}
    />
  );
}

interface PreviewColumnProps {
  vm: EditorProps['vm'];
  handler: string;
  editing: Editing;
  typing: Typing;
  faults: Faults;
  planned: Planned;
  json: Ref<JsonEditorHandle>;
}

function PreviewColumn({ vm, handler, editing, typing, faults, planned, json }: PreviewColumnProps) {
  const { base, draft, setDraft, start, isNew, used, dirty } = editing;
  const format = () => setDraft((current) => ({ ...current, text: printed(current.settings) }));
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:sticky lg:top-[calc(var(--topbar)+16px)]">
      <JsonCard
        editor={json}
        text={draft.text}
        onText={typing.type}
        unwraps={typing.unwraps}
        wasWrapped={typing.wasWrapped}
        onFormat={draft.unread === null ? format : undefined}
        marks={faults.marks}
        secrets={editing.secrets}
        hadSecrets={(base.extension?.protectedSettings ?? null) !== null}
        handler={handler}
        version={draft.version}
        schema={used.schema ?? null}
        followsForm={used.plan !== null}
      />
      <PlanCard
        changes={editing.changes}
        secretChange={editing.secretChange}
        changedSettings={editing.changedSettings}
        protectedPlan={used.protectedForm.kind === 'fields' ? used.protectedForm.plan : null}
        before={isNew ? {} : start.settings}
        after={draft.settings}
        isNew={isNew}
        isUnread={draft.unread !== null}
        idle={!dirty && !isNew}
        planned={planned}
        hold={editing.live.hold}
        faultAt={faults.publicAt}
      />
      <DependencyCard
        vmId={vm.id}
        name={draft.name}
        dependsOn={draft.dependsOn}
        extensions={editing.live.goalState.extensions}
      />
    </div>
  );
}

/** Returns the latest planning result. `plan` is null while the planned change does not match what the page shows. */
function useCurrentPlan(vmId: string, editing: Editing, state: { isApplied: boolean; isComparing: boolean }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { draft, goal, used, live, base } = editing;
  const planned = usePlan({
    vmId,
    name: draft.name,
    goal,
    secretChanges: editing.secretChanges,
    siblings: editing.takesSiblings,
    enabled: draft.name !== '' && used.schema !== undefined && live.gone === null && !state.isApplied,
    stamp: live.stamp,
  });
  // If the plan is based on a newer goal state than the draft, loads that goal state before showing the plan.
  const isBehind = planned.settled && planned.plan !== null && planned.plan.incarnation.before > base.incarnation;
  useEffect(() => {
    if (isBehind) void queries.invalidateQueries(trpc.goalStates.pathFilter());
  }, [isBehind, queries, trpc]);
  const isCurrent = planned.settled && !isBehind && !state.isComparing && !editing.overtaken;
  return { planned, plan: isCurrent ? planned.plan : null };
}

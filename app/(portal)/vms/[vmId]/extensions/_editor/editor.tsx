'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import type { JsonEditorHandle } from '#app/_ui/json-editor.tsx';
import { ConflictCard, type Newer } from './conflict-card.tsx';
import { DependencyCard } from './dependency-card.tsx';
import { type Draft, printed, withSettings } from './draft.ts';
import { EditorHeader } from './editor-header.tsx';
import { Foot } from './foot.tsx';
import { JsonCard } from './json-card.tsx';
import { LeaveGuard } from './leave-guard.tsx';
import { Leaving } from './leaving.tsx';
import { Notices } from './notices.tsx';
import { PlanCard } from './plan-card.tsx';
import { SettingsCard } from './settings-card.tsx';
import { useApply } from './use-apply.ts';
import { differs, type EditingStart, useEditing } from './use-editing.ts';
import { useFaults } from './use-faults.ts';
import { usePlan } from './use-plan.ts';
import { useTyping } from './use-typing.ts';

export interface EditorProps extends EditingStart {
  versions: readonly { version: string; state: string }[];
}

/** One extension of one VM: a form beside its JSON, what an apply would do, and the way to apply it. */
export function Editor({ versions, ...from }: EditorProps) {
  const { vm, handler } = from;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const explain = useProblem();
  const json = useRef<JsonEditorHandle>(null);
  const [newer, setNewer] = useState<Newer | null>(null);
  const [active, setActive] = useState('');
  const applying = useApply(vm, compare);
  const editing = useEditing(from, applying.busy || applying.done || newer !== null);
  const { base, draft, setDraft, start, isNew, secrets, used, goal, live, dirty } = editing;
  const typing = useTyping(editing);

  const planned = usePlan({
    vmId: vm.id,
    name: draft.name,
    goal,
    siblings: editing.takesSiblings,
    enabled: draft.name !== '' && used.schema !== undefined && live.gone === null && !applying.done,
    stamp: live.stamp,
  });
  const neighbours = live.goalState.extensions.filter(({ name }) => name !== draft.name);
  const taken = isNew && neighbours.length < live.goalState.extensions.length && !applying.done;
  const faults = useFaults({ planned, draft, secrets, taken, mustReplace: editing.mustReplace, active });

  // A plan from another goal state than the draft's: what this page knows is behind, and is read again.
  const isBehind = planned.settled && planned.plan !== null && planned.plan.incarnation.before > base.incarnation;
  useEffect(() => {
    if (isBehind) void queries.invalidateQueries(trpc.goalStates.pathFilter());
  }, [isBehind, queries, trpc]);

  const plan = planned.settled && !isBehind && newer === null && !editing.overtaken ? planned.plan : null;

  async function compare() {
    const [goalStates, extension] = await Promise.all([
      client.goalStates.list.query({ vmId: vm.id, limit: 1 }),
      client.goalStates.getExtension.query({ vmId: vm.id, name: draft.name }).catch((error: unknown) => {
        if (explain(error).code === 'extension_absent') return null;
        throw error;
      }),
      queries.invalidateQueries(trpc.goalStates.pathFilter()),
    ]).catch(() => [null, null] as const);
    const [state] = goalStates?.items ?? [];
    if (state === undefined) return;
    const { incarnation, publishedAt, publishedBy } = state;
    const isTheSame = extension === null ? isNew : base.extension !== null && !differs(base.extension, extension);
    // Another part of the VM: there is nothing to compare, only a new plan to look at.
    if (isTheSame) editing.goOnFrom({ extension, incarnation }, draft, secrets.mode === 'keep' ? null : secrets);
    else setNewer({ incarnation, publishedAt, publishedBy, extension });
  }

  function goOn(merged: Draft, keepsSecrets: boolean) {
    if (newer === null) return;
    editing.goOnFrom(newer, merged, keepsSecrets && secrets.mode !== 'keep' ? secrets : null);
    setNewer(null);
    applying.forget();
  }

  if (base.extension?.state === 'uninstall' && !dirty) return <Leaving vm={vm} name={start.name} />;

  const present = base.extension?.protectedSettings ?? null;
  const editJson = (at: string) => json.current?.goTo(at);
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
          onGoOn={goOn}
        />
      )}
      {applying.done || newer !== null ? null : (
        <Notices
          name={start.name}
          vm={vm}
          gone={live.gone}
          changedBy={editing.overtaken ? (live.extension?.changedBy ?? '') : null}
          adopted={editing.adopted}
          refusal={applying.refusal}
          problem={planned.settled ? planned.problem : null}
          settings={goal.settings?.publicSettings ?? {}}
          onCompare={() => void compare()}
        />
      )}
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-2">
        <SettingsCard
          editing={editing}
          versions={versions}
          others={neighbours.filter(({ state }) => state !== 'uninstall')}
          faults={faults}
          onSettings={(settings) => setDraft((current) => withSettings(current, settings))}
          onActive={setActive}
          onEditJson={editJson}
        />
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:sticky lg:top-[calc(var(--topbar)+16px)]">
          <JsonCard
            editor={json}
            text={draft.text}
            onText={typing.type}
            unwraps={typing.unwraps}
            wasWrapped={typing.wasWrapped}
            onFormat={
              draft.unread === null
                ? () => setDraft((current) => ({ ...current, text: printed(current.settings) }))
                : undefined
            }
            marks={faults.marks}
            secrets={secrets}
            hadSecrets={present !== null}
            handler={handler}
            version={draft.version}
            schema={used.schema ?? null}
            followsForm={used.plan !== null}
          />
          <PlanCard
            changes={editing.changes}
            secretChange={editing.secretChange}
            before={isNew ? {} : start.settings}
            after={draft.settings}
            isNew={isNew}
            isUnread={draft.unread !== null}
            idle={!dirty && !isNew}
            planned={planned}
            faultAt={faults.publicAt}
          />
          <DependencyCard
            vmId={vm.id}
            name={draft.name}
            dependsOn={draft.dependsOn}
            extensions={live.goalState.extensions}
          />
        </div>
      </div>
      <Foot
        faults={faults}
        plan={plan}
        dirty={dirty || isNew}
        blockedBy={newer !== null ? 'comparing' : editing.overtaken ? 'overtaken' : live.gone}
        busy={applying.busy}
        vm={vm}
        onCompare={() => void compare()}
        onApply={() => {
          if (plan !== null) void applying.apply({ name: draft.name, goal, siblings: editing.takesSiblings, plan });
        }}
        onEditJson={editJson}
      />
    </>
  );
}

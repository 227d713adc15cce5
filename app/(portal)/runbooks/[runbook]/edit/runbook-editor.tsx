'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { jsonObjectIn } from '#app/(portal)/vms/[vmId]/executions/json-object.ts';
import { PlanEditor } from '#app/(portal)/vms/[vmId]/executions/new/plan-editor.tsx';
import { termsOf } from '#app/(portal)/vms/[vmId]/executions/new/terms.ts';
import { usePlanCheck } from '#app/(portal)/vms/[vmId]/executions/new/use-plan-check.ts';
import { withoutIdentity } from '#app/(portal)/vms/[vmId]/executions/plan-text.ts';
import { editHref } from '../../runbook-data.ts';
import { DraftCheck } from './draft-check.tsx';
import { faultsBelow } from './draft-faults.ts';
import { LeaveDraft } from './leave-draft.tsx';
import { PlanPartsEditor } from './plan-parts-editor.tsx';
import { SaveBar } from './save-bar.tsx';
import { SchemaCard } from './schema-card.tsx';
import type { StartingPoint } from './starting-point.ts';
import { useDraftFaults } from './use-draft-faults.ts';
import { type PlanMode, usePlaces } from './use-places.ts';
import { type RunbookChange, type RunbookDraft, useRunbookDraft } from './use-runbook-draft.ts';
import { VersionCard } from './version-card.tsx';

export interface RunbookEditorProps {
  name: string;
  start: StartingPoint;
  /** Whether the runbook does not exist yet. */
  isNew: boolean;
  /** URL of the execution whose plan the editor starts with; absent if it starts with the runbook itself. */
  from?: string | undefined;
}

/** Edits a version of a runbook, checks its plan after each change, and saves it as a draft. */
export function RunbookEditor({ name, start, isNew, from }: RunbookEditorProps) {
  const { draft, change, savedVersion, isSaved, isTouched, noteSaved } = useRunbookDraft(start);
  const [wasTried, setTried] = useState(false);
  const explain = useProblem();
  const save = useSave(name, noteSaved);
  const problem = save.error === null ? undefined : explain(save.error);
  const { check, settled } = usePlanCheck({ text: draft.plan, schema: draft.schema });
  const { faults, warnings, blocks } = useDraftFaults({ draft, check, settled, problem, wasTried });
  const places = usePlaces(draft.typed);
  const edit = (part: RunbookChange) => {
    forgetError(save);
    change(part);
  };
  /** Saves the draft. Rejects if the draft has faults, and moves the focus to the first. */
  const saveDraft = async () => {
    setTried(true);
    const first = blocks(draft)[0];
    if (first !== undefined) {
      places.goTo(first);
      throw new Error('the draft has faults');
    }
    await save.mutateAsync(draft);
  };
  // The fields of typed texts show their faults themselves.
  const planFaults = faultsBelow(faults, '/plan').filter(({ path }) => draft.typed[path] === undefined);
  return (
    <>
      <EditorHead {...{ name, isNew, from }} title={draft.title} view={places.view} onView={places.setView} />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem] lg:grid-rows-[auto_1fr]">
        <VersionCard {...{ draft, faults }} onChange={edit} className="lg:col-start-2 lg:row-start-1" />
        <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4 lg:col-start-1 lg:row-span-2 lg:row-start-1">
          {places.view === 'json' ? (
            <PlanEditor
              editor={places.planEditor}
              text={draft.plan}
              faults={planFaults}
              warnings={warnings}
              adapt={withoutIdentity}
              startAt={places.startAt}
              onText={(plan) => edit({ plan })}
            />
          ) : (
            <PlanPartsEditor
              {...{ draft, warnings }}
              faults={planFaults}
              body={places.bodyEditor}
              onChange={edit}
              onJson={() => places.setView('json')}
            />
          )}
          <SchemaCard
            editor={places.schemaEditor}
            text={draft.schema}
            onText={(schema) => edit({ schema })}
            faults={faultsBelow(faults, '/parameters')}
          />
        </div>
        <DraftCheck {...{ faults, warnings, check, settled, problem }} onGo={places.goTo} className="lg:col-start-2" />
      </div>
      <SaveBar
        {...{ name, isSaved, savedVersion, faults, problem }}
        exists={!isNew || savedVersion !== null}
        warnings={warnings}
        onGo={places.goTo}
        onSave={() => void saveDraft().catch(() => undefined)}
        busy={save.isPending}
      />
      <LeaveDraft active={isTouched && !isSaved} onSave={saveDraft} />
    </>
  );
}

interface EditorHeadProps extends Pick<RunbookEditorProps, 'name' | 'isNew' | 'from'> {
  title: string;
  view: PlanMode;
  onView(view: PlanMode): void;
}

/** The title of the page, where the draft comes from, and the choice of the view. */
function EditorHead({ name, isNew, from, title, view, onView }: EditorHeadProps) {
  const { t } = useTranslation('runbooks');
  return (
    <PageHeader
      title={isNew ? t('new') : <span translate="no">{title || name}</span>}
      note={
        <span translate="no" className="mono">
          {name}
        </span>
      }
      actions={
        <Segmented<PlanMode>
          label={t('edit.view')}
          value={view}
          onChange={onView}
          options={[
            { value: 'parts', label: t('edit.parts') },
            { value: 'json', label: <span translate="no">JSON</span> },
          ]}
        />
      }
    >
      {from === undefined ? null : (
        <p className="mt-1 text-12 text-pretty text-ink-2">
          <Trans text={t('edit.from')} tags={{ link: <TextLink href={from} /> }} />
        </p>
      )}
    </PageHeader>
  );
}

/** Saves a draft that the editor found no faults in. */
function useSave(name: string, onSaved: (draft: RunbookDraft) => void) {
  const { t } = useTranslation('runbooks');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const save = useMutation(trpc.runbooks.save.mutationOptions());
  return useMutation({
    mutationFn: async (draft: RunbookDraft) => {
      const { title, description, version, plan, schema, terms } = draft;
      const times = termsOf(terms);
      if (times === null) return;
      const { timeoutSeconds, validForSeconds } = times;
      await save.mutateAsync({
        ...{ name, title, description, version, plan, timeoutSeconds, validForSeconds },
        parameters: jsonObjectIn(schema) ?? null,
      });
      onSaved(draft);
      // A reload then opens what was saved, not what the editor started with.
      window.history.replaceState(null, '', editHref(name, version));
      toast(t('edit.saved', { version }));
      await queries.invalidateQueries(trpc.runbooks.pathFilter());
    },
  });
}

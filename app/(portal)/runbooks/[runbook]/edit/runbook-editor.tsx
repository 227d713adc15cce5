'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useMemo, useRef, useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt, type ProblemFault } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardFooter, CardHeader } from '#app/_ui/card.tsx';
import { Field, FieldError } from '#app/_ui/field.tsx';
import { Input, Textarea } from '#app/_ui/input.tsx';
import type { JsonEditorHandle } from '#app/_ui/json-editor.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { jsonObjectIn } from '#app/(portal)/vms/[vmId]/executions/json-object.ts';
import { PlanEditor } from '#app/(portal)/vms/[vmId]/executions/new/plan-editor.tsx';
import { PlanFaults } from '#app/(portal)/vms/[vmId]/executions/new/plan-faults.tsx';
import { TermFields, termsOf } from '#app/(portal)/vms/[vmId]/executions/new/term-fields.tsx';
import { type PlanCheck, usePlanCheck } from '#app/(portal)/vms/[vmId]/executions/new/use-plan-check.ts';
import { withoutIdentity } from '#app/(portal)/vms/[vmId]/executions/plan-text.ts';
import { LeaveGuard } from '#app/(portal)/vms/[vmId]/extensions/_editor/leave-guard.tsx';
import { editHref, runbookHref } from '../../runbook-data.ts';
import { PlanPartsEditor } from './plan-parts-editor.tsx';
import { SchemaCard } from './schema-card.tsx';
import type { StartingPoint } from './starting-point.ts';
import { type RunbookDraft, useRunbookDraft } from './use-runbook-draft.ts';

type View = 'parts' | 'json';

export interface RunbookEditorProps {
  name: string;
  start: StartingPoint;
  /** Whether the runbook does not exist yet. */
  isNew: boolean;
}

/** Edits a version of a runbook, checks its plan after each change, and saves it as a draft. */
export function RunbookEditor({ name, start, isNew }: RunbookEditorProps) {
  const { t } = useTranslation('runbooks');
  const { draft, change, isSaved, isTouched, noteSaved } = useRunbookDraft(start);
  const [view, setView] = useState<View>('parts');
  const editor = useRef<JsonEditorHandle>(null);
  const explain = useProblem();
  const save = useSave(name, noteSaved);
  const problem = save.error === null ? undefined : explain(save.error);
  const { check, settled } = usePlanCheck({ text: draft.plan, schema: draft.schema });
  const faults = useFaults(check, problem);
  const edit = (part: Partial<RunbookDraft>) => {
    forgetError(save);
    change(part);
  };
  return (
    <>
      <PageHeader
        title={isNew ? t('new') : <span translate="no">{draft.title || name}</span>}
        note={
          <span translate="no" className="mono">
            {name}
          </span>
        }
        actions={
          <Segmented<View>
            label={t('edit.view')}
            value={view}
            onChange={setView}
            options={[
              { value: 'parts', label: t('edit.parts') },
              { value: 'json', label: <span translate="no">JSON</span> },
            ]}
          />
        }
      />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4">
          {view === 'json' ? (
            <PlanEditor
              editor={editor}
              text={draft.plan}
              faults={faults}
              warnings={check?.warnings ?? []}
              adapt={withoutIdentity}
              onText={(plan) => edit({ plan })}
            />
          ) : (
            <PlanPartsEditor text={draft.plan} onText={(plan) => edit({ plan })} onJson={() => setView('json')} />
          )}
          <SchemaCard
            text={draft.schema}
            onText={(schema) => edit({ schema })}
            faults={(problem?.faults ?? []).filter(({ path }) => path.startsWith('/parameters'))}
          />
        </div>
        <VersionCard
          {...{ name, draft, isSaved, problem, settled }}
          check={check === null ? null : { ...check, faults }}
          onGo={view === 'json' ? (pointer) => editor.current?.goTo(pointer) : undefined}
          onChange={edit}
          onSave={save.mutate}
          busy={save.isPending}
        />
      </div>
      <LeaveGuard active={isTouched && !isSaved} />
    </>
  );
}

/** Returns the faults of the plan: those of the check, and those for which the portal rejected the draft. */
function useFaults(check: PlanCheck | null, problem: VersionCardProps['problem']): readonly ProblemFault[] {
  return useMemo(() => {
    const found = check?.faults ?? [];
    const rejected = (problem?.faults ?? [])
      .filter(({ path }) => path === '/plan' || path.startsWith('/plan/'))
      .map((fault) => ({ ...fault, path: fault.path.slice('/plan'.length) }));
    const isNew = (fault: ProblemFault) =>
      !found.some(({ path, message }) => path === fault.path && message === fault.message);
    return [...found, ...rejected.filter(isNew)];
  }, [check, problem]);
}

type Save = ReturnType<typeof useSave>;

/** Saves the draft. */
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

interface VersionCardProps {
  name: string;
  draft: RunbookDraft;
  isSaved: boolean;
  problem: ReturnType<ReturnType<typeof useProblem>> | undefined;
  busy: boolean;
  check: PlanCheck | null;
  /** Whether the check is about the current text. */
  settled: boolean;
  /** Moves the focus to a place in the JSON of the plan. */
  onGo: ((pointer: string) => void) | undefined;
  onChange(part: Partial<RunbookDraft>): void;
  onSave: Save['mutate'];
}

/** The title, version and times of the draft, the check of its plan, and the button that saves it. */
function VersionCard(props: VersionCardProps) {
  const { name, draft, isSaved, problem, busy, check, settled, onGo, onChange, onSave } = props;
  const { t } = useTranslation(['runbooks', 'common']);
  const router = useRouter();
  const isReady = jsonObjectIn(draft.schema) !== undefined && termsOf(draft.terms) !== null;
  return (
    <Card>
      <CardHeader title={t('runbooks:edit.version')} />
      <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-3">
        <Field label={t('runbooks:edit.name')} error={faultAt(problem, '/title')}>
          <Input maxLength={100} value={draft.title} onChange={(event) => onChange({ title: event.target.value })} />
        </Field>
        <Field
          label={t('runbooks:edit.description')}
          note={t('common:optional')}
          error={faultAt(problem, '/description')}
        >
          <Textarea
            rows={2}
            maxLength={4000}
            value={draft.description}
            onChange={(event) => onChange({ description: event.target.value })}
          />
        </Field>
        <Field
          label={t('runbooks:run.version')}
          hint={t('runbooks:edit.version.hint')}
          error={faultAt(problem, '/version')}
        >
          <Input
            mono
            maxLength={64}
            value={draft.version}
            onChange={(event) => onChange({ version: event.target.value })}
          />
        </Field>
        <TermFields withNote={false} terms={draft.terms} onChange={(terms) => onChange({ terms })} />
        <PlanFaults check={check} settled={settled} fine={t('runbooks:edit.fine')} {...(onGo && { onGo })} />
        {problem === undefined ? null : <FieldError>{problem.message}</FieldError>}
      </CardBody>
      <CardFooter>
        <Button variant="primary" busy={busy} disabled={!isReady || isSaved} onClick={() => onSave(draft)}>
          {t('runbooks:edit.save')}
        </Button>
        <Button disabled={!isSaved} onClick={() => router.push(runbookHref(name, draft.version))}>
          {t('runbooks:edit.show')}
        </Button>
        <span role="status" className="min-w-0 flex-[1_1_10rem] text-12 text-ink-2">
          {isSaved ? t('runbooks:edit.isSaved') : null}
        </span>
      </CardFooter>
    </Card>
  );
}

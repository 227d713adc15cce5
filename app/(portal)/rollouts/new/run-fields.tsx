'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useEffect } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { WordsOnDemand } from '#app/_lib/i18n/words-on-demand.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Field } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Select } from '#app/_ui/select.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { presetsOf } from '#app/(portal)/runbooks/parameters.ts';
import { termsFrom } from '../../vms/[vmId]/executions/new/terms.ts';
import type { FormFaults } from './faults.ts';
import { type ChangeForm, emptyChange, type RunForm } from './rollout-form.ts';
import { useOwnFaults } from './use-own-faults.ts';

const load = () => import('../../vms/[vmId]/executions/run/parameter-form.tsx').then((module) => module.ParameterForm);
const loadTerms = () => import('../../vms/[vmId]/executions/new/term-fields.tsx').then((module) => module.TermFields);
const TermFields = dynamic(loadTerms, { ssr: false, loading: () => <Skeleton className="h-8 w-full" /> });
const ParameterForm = dynamic(load, { ssr: false, loading: () => <Skeleton className="h-8 w-full" /> });

/** Texts of the fields that the page of one VM has too. */
const namespaces = ['runbooks', 'editor', 'executions'] as const;

export interface RunFieldsProps {
  change: ChangeForm;
  onChange(change: ChangeForm): void;
  faults: FormFaults;
}

/** The fields of a run: the runbook, its version, its parameters with the form of one VM, and its time limits. */
export function RunFields({ change, onChange, faults }: RunFieldsProps) {
  const { t } = useTranslation('rollouts');
  const { run } = change;
  const put = (next: Partial<RunForm>) => onChange({ ...change, run: { ...run, ...next } });
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <RunbookField run={run} faults={faults} onChoose={(runbook) => put({ ...emptyChange.run, runbook })} />
        {run.runbook === '' ? null : <VersionField run={run} faults={faults} put={put} />}
      </div>
      {run.version === '' ? (
        <p className="text-ink-2">{t('new.kind.run.why')}</p>
      ) : (
        <WordsOnDemand namespaces={namespaces} onFailed={() => put(emptyChange.run)}>
          <Parameters key={`${run.runbook} ${run.version}`} run={run} faults={faults} put={put} />
        </WordsOnDemand>
      )}
    </>
  );
}

interface PartProps {
  run: RunForm;
  faults: FormFaults;
  put(next: Partial<RunForm>): void;
}

function RunbookField({ run, faults, onChoose }: Omit<PartProps, 'put'> & { onChoose(runbook: string): void }) {
  const { t } = useTranslation('rollouts');
  const trpc = useTRPC();
  const explain = useProblem();
  const list = useQuery(trpc.runbooks.list.queryOptions({}));
  const published = (list.data?.items ?? []).filter(({ state }) => state === 'published');
  const isListed = run.runbook === '' || published.some(({ name }) => name === run.runbook);
  const all = isListed ? published : [{ name: run.runbook, title: run.runbook }, ...published];
  return (
    <Field
      label={t('new.runbook')}
      hint={list.isSuccess && all.length === 0 ? t('new.runbook.none') : undefined}
      error={faults.at('/change/runbook') ?? (list.error === null ? undefined : explain(list.error).message)}
    >
      <Select
        value={run.runbook}
        onChange={(event) => onChoose(event.target.value)}
        options={[
          { value: '', label: t('new.runbook.choose') },
          ...all.map(({ name, title }) => ({ value: name, label: title, isName: true })),
        ]}
      />
    </Field>
  );
}

/** The published versions. A runbook that was just chosen runs in its newest one. */
function VersionField({ run, faults, put }: PartProps) {
  const { t } = useTranslation('rollouts');
  const trpc = useTRPC();
  const runbook = useQuery(trpc.runbooks.get.queryOptions({ name: run.runbook }));
  const published = (runbook.data?.versions ?? []).filter(({ state }) => state === 'published');
  const versions = [...new Set([...published.map(({ version }) => version), run.version])].filter(Boolean);
  const newest = runbook.data?.published ?? null;
  const isUnset = run.version === '' && newest !== null;
  useEffect(() => {
    if (isUnset) put({ version: newest });
  });
  return (
    <Field label={t('new.version')} error={faults.at('/change/version')}>
      <Select
        mono
        value={run.version}
        onChange={(event) => put({ ...emptyChange.run, runbook: run.runbook, version: event.target.value })}
        options={versions.map((version) => ({ value: version, label: version }))}
      />
    </Field>
  );
}

function Parameters({ run, faults, put }: PartProps) {
  const { t } = useTranslation(['runbooks', 'rollouts']);
  const format = useFormat();
  const trpc = useTRPC();
  const { data } = useQuery(trpc.runbooks.version.queryOptions({ name: run.runbook, version: run.version }));
  const { parameters, terms } = run;
  const isUnset = data !== undefined && (parameters === undefined || terms === undefined);
  useEffect(() => {
    if (isUnset)
      put({ parameters: parameters === undefined ? presetsOf(data) : parameters, terms: terms ?? termsFrom(data) });
  });
  const { own, onBlur } = useOwnFaults(faults);
  if (data === undefined || parameters === undefined || terms === undefined) return <Skeleton className="h-8 w-full" />;
  return (
    <>
      {data.parameters === null ? (
        <p className="text-ink-2">{t('runbooks:parameters.none')}</p>
      ) : (
        // biome-ignore lint/a11y/noStaticElementInteractions: listens to the fields inside, but is not interactive
        <div onBlur={onBlur} className="contents">
          <ParameterForm
            version={data}
            schema={data.parameters}
            values={parameters}
            onValues={(values) => put({ parameters: values as RunForm['parameters'] })}
            secrets={run.secrets}
            onSecrets={(secrets) => put({ secrets: secrets as RunForm['secrets'] })}
            faults={own}
          />
        </div>
      )}
      {run.kept === undefined || Object.keys(run.secrets).length > 0 ? null : (
        <p className="text-12 text-ink-2">{t('rollouts:new.run.kept', { names: format.list([...run.kept]) })}</p>
      )}
      <div className="grid gap-3 sm:grid-cols-2">
        <TermFields terms={terms} onChange={(next) => put({ terms: next })} withNote={false} />
      </div>
    </>
  );
}

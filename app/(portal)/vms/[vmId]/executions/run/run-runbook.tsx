'use client';

import { useMutation } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { mayRunPlans } from '#app/_lib/may-run-plans.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardFooter, CardHeader } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { Field } from '#app/_ui/field.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { Select } from '#app/_ui/select.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { executionHref } from '#app/(portal)/executions/execution-data.ts';
import { type Runbook, runHref, type ShownRunbookVersion } from '#app/(portal)/runbooks/runbook-data.ts';
import { TermFields } from '../new/term-fields.tsx';
import { termsFrom, termsOf } from '../new/terms.ts';
import { AheadCard } from './ahead-card.tsx';
import { ParameterFaults } from './parameter-faults.tsx';
import { RunsWhatCard } from './runs-what-card.tsx';

type Values = Record<string, unknown>;

const load = () => import('./parameter-form.tsx').then((module) => module.ParameterForm);
const ParameterForm = dynamic(load, { ssr: false, loading: () => <Skeleton className="h-8 w-full" /> });

const NameDialog = dynamic(() => import('#app/(portal)/runbooks/name-dialog.tsx').then((module) => module.NameDialog), {
  ssr: false,
});

export interface RunRunbookProps {
  vm: { id: string; name: string };
  /** The runbooks that the reader may run. */
  choices: readonly { name: string; title: string }[];
  chosen: { runbook: Runbook; version: ShownRunbookVersion } | null;
  /** The parameters with which the form starts. */
  first: Values;
  /** The execution whose parameters the form starts with. */
  from: string | null;
}

/** Lets the reader choose a runbook and enter its parameters, and queues it for a VM. */
export function RunRunbook({ vm, choices, chosen, first, from }: RunRunbookProps) {
  const { t } = useTranslation('runbooks');
  return (
    <>
      <PageHeader title={t('run.title')} note={<span translate="no">{vm.name}</span>} />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4">
          <ChoiceCard vm={vm} choices={choices} chosen={chosen} />
          {chosen === null ? null : chosen.version.state === 'withdrawn' ? (
            <Withdrawn version={chosen.version} />
          ) : (
            <RunForm vm={vm} {...chosen} first={first} from={from} />
          )}
        </div>
        <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4">
          <AheadCard vmId={vm.id} />
          {chosen === null ? null : <RunsWhatCard {...chosen} />}
        </div>
      </div>
    </>
  );
}

function ChoiceCard({ vm, choices, chosen }: Pick<RunRunbookProps, 'vm' | 'choices' | 'chosen'>) {
  const { t } = useTranslation('runbooks');
  const router = useRouter();
  const mayRunDrafts = mayRunPlans(useReader());
  if (choices.length === 0 && chosen === null) {
    return <NoRunbooks />;
  }
  const description = chosen?.version.description ?? '';
  const isListed = choices.some(({ name }) => name === chosen?.runbook.name);
  const all = chosen === null || isListed ? choices : [{ ...chosen.version, name: chosen.runbook.name }, ...choices];
  const versions = (chosen?.runbook.versions ?? []).filter(
    ({ state, version }) =>
      state === 'published' || (state === 'draft' && mayRunDrafts) || version === chosen?.version.version,
  );
  return (
    <Card>
      <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-3 pt-4 sm:grid-cols-[minmax(0,1fr)_11rem]">
        <Field
          label={t('run.runbook')}
          hint={description === '' ? undefined : <span translate="no">{description}</span>}
        >
          <Select
            value={chosen?.runbook.name ?? ''}
            onChange={(event) => router.replace(runHref(vm.id, { name: event.target.value }))}
            options={[
              ...(chosen === null ? [{ value: '', label: t('run.choose'), disabled: true }] : []),
              ...all.map(({ name, title }) => ({ value: name, label: title, isName: true })),
            ]}
          />
        </Field>
        {chosen === null ? null : (
          <Field label={t('run.version')}>
            <Select
              value={chosen.version.version}
              onChange={(event) =>
                router.replace(runHref(vm.id, { name: chosen.runbook.name, version: event.target.value }))
              }
              options={versions.map(({ version, state }) => ({
                value: version,
                label:
                  version === chosen.runbook.published
                    ? t('run.newest', { version })
                    : state === 'published'
                      ? version
                      : t(`run.${state}`, { version }),
              }))}
            />
          </Field>
        )}
      </CardBody>
    </Card>
  );
}

/** Says that there is no runbook to run, and what to do. */
function NoRunbooks() {
  const { t } = useTranslation('runbooks');
  const mayWrite = mayRunPlans(useReader());
  const [isNaming, setNaming] = useState(false);
  return (
    <Card>
      <EmptyState
        title={t('run.none')}
        actions={
          mayWrite ? (
            <Button variant="primary" onClick={() => setNaming(true)}>
              <Plus aria-hidden />
              {t('new')}
            </Button>
          ) : (
            <Button asChild>
              <Link href="/runbooks">{t('run.none.link')}</Link>
            </Button>
          )
        }
      >
        <p>{t(mayWrite ? 'run.none.create' : 'run.none.ask')}</p>
      </EmptyState>
      {isNaming ? <NameDialog onClose={() => setNaming(false)} /> : null}
    </Card>
  );
}

/** Says why a withdrawn version cannot run. */
function Withdrawn({ version }: { version: ShownRunbookVersion }) {
  const { t } = useTranslation('runbooks');
  return (
    <Banner boxed status="warning">
      <span className="block font-medium">{t('run.isWithdrawn')}</span>
      {version.withdrawnReason === null ? null : (
        <span translate="no" className="block text-ink-2">
          {version.withdrawnReason}
        </span>
      )}
    </Banner>
  );
}

interface RunFormProps {
  vm: RunRunbookProps['vm'];
  runbook: Runbook;
  version: ShownRunbookVersion;
  first: Values;
  from: string | null;
}

function RunForm({ vm, runbook, version, first, from }: RunFormProps) {
  const { t } = useTranslation('runbooks');
  const explain = useProblem();
  const queue = useQueue(vm.id);
  // Null while the parameters are written as JSON that is not valid yet.
  const [values, setValues] = useState<Values | null>(first);
  const [secrets, setSecrets] = useState<Values>({});
  const [terms, setTerms] = useState(() => termsFrom(version));
  const accepted = termsOf(terms);
  const problem = queue.error === null ? undefined : explain(queue.error);
  const edit = <T,>(set: (value: T) => void) => {
    return (value: T) => {
      forgetError(queue);
      set(value);
    };
  };
  const submit = () => {
    if (values === null || accepted === null) return;
    queue.mutate({
      ...{ vmId: vm.id, runbook: runbook.name, version: version.version },
      ...(Object.keys(values).length > 0 && { parameters: values }),
      ...(Object.keys(secrets).length > 0 && { secretParameters: secrets }),
      ...accepted,
    });
  };
  return (
    <Card>
      <CardHeader title={t('run.parameters')} />
      {/* The scroll margin keeps a focused field above the footer, which stays visible. */}
      <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-4 **:scroll-mb-40">
        {from === null ? null : (
          <p className="text-12 text-ink-2">
            <Trans text={t('run.from')} tags={{ link: <TextLink href={executionHref({ vmId: vm.id, id: from })} /> }} />
          </p>
        )}
        {version.parameters === null ? (
          <p className="text-ink-2">{t('parameters.none')}</p>
        ) : (
          <ParameterForm
            version={version}
            schema={version.parameters}
            values={values}
            onValues={edit(setValues)}
            secrets={secrets}
            onSecrets={edit(setSecrets)}
            faults={problem?.faults ?? []}
          />
        )}
        <div className="grid max-w-[28rem] grid-cols-[minmax(0,1fr)] gap-3">
          <h3 className="text-13 font-semibold">{t('run.terms')}</h3>
          <TermFields terms={terms} onChange={edit(setTerms)} />
        </div>
      </CardBody>
      <CardFooter className="sticky bottom-0 z-10 max-sm:bottom-(--tabbar)">
        {problem === undefined ? null : <ParameterFaults message={problem.message} faults={problem.faults} />}
        <Button
          variant="primary"
          busy={queue.isPending}
          disabled={values === null || accepted === null}
          onClick={submit}
        >
          {t('run.act', { name: vm.name })}
        </Button>
        <span className="flex-[1_1_9rem] text-12 text-ink-2">{t('run.root')}</span>
      </CardFooter>
    </Card>
  );
}

function useQueue(vmId: string) {
  const { t } = useTranslation('runbooks');
  const trpc = useTRPC();
  const router = useRouter();
  return useMutation(
    trpc.executions.queue.mutationOptions({
      onSuccess: ({ id }) => {
        toast(t('run.done'));
        router.push(executionHref({ vmId, id }));
      },
    }),
  );
}

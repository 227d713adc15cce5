'use client';

import { Download, GitCompare, NotebookPen, RotateCw, X } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { mayRunPlans } from '#app/_lib/may-run-plans.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Facts, PageHeader } from '#app/_ui/page-header.tsx';
import { StatusBadge } from '#app/_ui/status.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { Duration } from '#app/(portal)/executions/duration.tsx';
import { executionHref, hasEnded, type ShownExecution, tookMs } from '#app/(portal)/executions/execution-data.ts';
import { shownState } from '#app/(portal)/executions/shown-state.ts';
import { runbookHref, runHref } from '#app/(portal)/runbooks/runbook-data.ts';

const CancelDialog = dynamic(
  () => import('#app/(portal)/executions/cancel-dialog.tsx').then((module) => module.CancelDialog),
  { ssr: false },
);
const RunAgainDialog = dynamic(() => import('./run-again-dialog.tsx').then((module) => module.RunAgainDialog), {
  ssr: false,
});

const NameDialog = dynamic(() => import('#app/(portal)/runbooks/name-dialog.tsx').then((module) => module.NameDialog), {
  ssr: false,
});

type OpenDialog = 'cancel' | 'again' | 'runbook';

/** The name and state of an execution, with its actions and facts. */
export function ExecutionHeader({ execution }: { execution: ShownExecution }) {
  const { t } = useTranslation('executions');
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const { name, version } = execution;
  const { word, status } = shownState(execution);
  const close = () => setOpen(null);
  return (
    <PageHeader
      title={name === '' ? t('unnamed') : <span translate="no">{name}</span>}
      note={
        <span translate="no" className="mono">
          {version}
        </span>
      }
      badge={
        <StatusBadge status={status} size="lg">
          {t(`state.${word}`)}
        </StatusBadge>
      }
      actions={<Actions execution={execution} onOpen={setOpen} />}
    >
      <ExecutionFacts execution={execution} />
      {open === 'cancel' ? <CancelDialog execution={execution} onClose={close} /> : null}
      {open === 'again' ? <RunAgainDialog execution={execution} onClose={close} /> : null}
      {open === 'runbook' ? <NameDialog from={execution} onClose={close} /> : null}
    </PageHeader>
  );
}

interface ActionsProps {
  execution: ShownExecution;
  onOpen(dialog: OpenDialog): void;
}

function Actions({ execution, onOpen }: ActionsProps) {
  const { t } = useTranslation('executions');
  const reader = useReader();
  const { vmId, id, cancelAskedAt } = execution;
  return (
    <>
      {!hasEnded(execution) && reader.can('operator') ? (
        <Button variant="danger" disabled={cancelAskedAt !== null} onClick={() => onOpen('cancel')}>
          <X aria-hidden />
          {t(cancelAskedAt === null ? 'cancel.act' : 'cancel.pending')}
        </Button>
      ) : null}
      {reader.can('operator') ? (
        <>
          {hasEnded(execution) ? (
            <Button asChild>
              <Link href={`${executionHref(execution)}/compare`} prefetch={false}>
                <GitCompare aria-hidden />
                {t('compare')}
              </Link>
            </Button>
          ) : null}
          <Button asChild>
            <a href={`/download/vms/${vmId}/executions/${id}/archive`} download>
              <Download aria-hidden />
              {t('download')}
            </a>
          </Button>
        </>
      ) : null}
      {mayRunPlans(reader) ? (
        <>
          <Button asChild>
            <Link href={`/vms/${vmId}/executions/new?from=${id}`}>{t('again.edit')}</Link>
          </Button>
          {execution.runbook === null ? (
            <Button onClick={() => onOpen('runbook')}>
              <NotebookPen aria-hidden />
              {t('saveAsRunbook')}
            </Button>
          ) : null}
        </>
      ) : null}
      <RunAgain execution={execution} onOpen={onOpen} />
    </>
  );
}

/**
 * Runs the plan again: a runbook through its form, which asks for secret parameters again; any other plan after a
 * confirmation.
 */
function RunAgain({ execution, onOpen }: ActionsProps) {
  const { t } = useTranslation('executions');
  const reader = useReader();
  const { vmId, id, runbook, runbookVersion } = execution;
  if (runbook !== null && reader.can('operator')) {
    return (
      <Button asChild>
        <Link href={runHref(vmId, { name: runbook, version: runbookVersion ?? undefined, from: id })}>
          <RotateCw aria-hidden />
          {t('again')}
        </Link>
      </Button>
    );
  }
  return mayRunPlans(reader) && runbook === null ? (
    <Button onClick={() => onOpen('again')}>
      <RotateCw aria-hidden />
      {t('again')}
    </Button>
  ) : null;
}

function ExecutionFacts({ execution }: { execution: ShownExecution }) {
  const { t } = useTranslation('executions');
  const { vmId, vmName, queuedAt, queuedBy, begunAt, concludedAt, note, run, reboots } = execution;
  const { runbook, runbookVersion, approval } = execution;
  const took = tookMs(execution);
  const items = [
    {
      label: t('fact.vm'),
      value: (
        <TextLink href={`/vms/${vmId}`} translate="no">
          {vmName}
        </TextLink>
      ),
    },
    runbook !== null && {
      label: t('fact.runbook'),
      value: (
        <TextLink href={runbookHref(runbook, runbookVersion ?? undefined)} translate="no">
          {runbook}
        </TextLink>
      ),
    },
    {
      label: t('fact.queued'),
      value: (
        <>
          <DateTime value={new Date(queuedAt)} /> · <span translate="no">{queuedBy}</span>
        </>
      ),
    },
    begunAt !== null && { label: t('fact.begun'), value: <DateTime value={new Date(begunAt)} style="time" /> },
    concludedAt !== null && { label: t('fact.ended'), value: <DateTime value={new Date(concludedAt)} style="time" /> },
    took !== null && { label: t('fact.took'), value: <Duration ms={took} /> },
    run > 1 && { label: t('fact.run'), value: run },
    reboots > 0 && { label: t('fact.reboots'), value: reboots },
    approval !== null && {
      label: t(approval.approved ? 'fact.approved' : 'fact.declined'),
      value: (
        <>
          <DateTime value={new Date(approval.at)} /> · <span translate="no">{approval.by}</span>
          {approval.note === null || !approval.approved ? null : <q translate="no">{approval.note}</q>}
        </>
      ),
    },
    note !== null && { label: t('fact.note'), value: <span translate="no">{note}</span> },
  ].filter((item) => item !== false);
  return <Facts items={items} className="tabular-nums" />;
}

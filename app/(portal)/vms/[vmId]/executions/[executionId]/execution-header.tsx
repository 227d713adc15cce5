'use client';

import { Download, Ellipsis, GitCompare, NotebookPen, Pencil, RotateCw, X } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { type ComponentProps, type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { mayRunPlans } from '#app/_lib/may-run-plans.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button, IconButton } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
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
  const { word, status, shape } = shownState(execution);
  const close = () => setOpen(null);
  return (
    <PageHeader
      title={
        <>
          {name === '' ? t('unnamed') : <span translate="no">{name}</span>}{' '}
          <span translate="no" className="mono text-13 font-normal tracking-normal text-ink-2">
            {version}
          </span>
        </>
      }
      badge={
        <StatusBadge status={status} shape={shape} size="lg">
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

/** The actions as buttons. On a phone, and before the end, only the first is a button, and a menu has the rest. */
function Actions({ execution, onOpen }: ActionsProps) {
  const { t } = useTranslation('executions');
  const [first, ...rest] = useActions(execution, onOpen);
  if (first === undefined) return null;
  const isEnded = hasEnded(execution);
  return (
    <>
      {isEnded
        ? rest.map((action) => <ActionButton key={action.id} action={action} className="max-sm:hidden" />)
        : null}
      <ActionButton action={first} />
      {rest.length === 0 ? null : (
        <span className={isEnded ? 'sm:hidden' : undefined}>
          <LazyMenu
            trigger={
              <IconButton label={t('more')} variant="default">
                <Ellipsis aria-hidden />
              </IconButton>
            }
          >
            {({ MenuItem }) =>
              rest.map(({ id, label, icon, href, isDownload, onSelect }) => (
                <MenuItem key={id} asChild={href !== undefined} onSelect={onSelect}>
                  {href === undefined ? (
                    <>
                      {icon}
                      {label}
                    </>
                  ) : (
                    <ActionLink href={href} isDownload={isDownload}>
                      {icon}
                      {label}
                    </ActionLink>
                  )}
                </MenuItem>
              ))
            }
          </LazyMenu>
        </span>
      )}
    </>
  );
}

interface Action {
  id: string;
  label: string;
  icon: ReactNode;
  /** The page or the file to open; absent for an action that opens a dialog. */
  href?: string;
  isDownload?: boolean;
  onSelect?(): void;
  variant?: 'primary' | 'danger' | undefined;
  isDisabled?: boolean;
}

/** Returns the actions that the reader may take. The most likely one comes first. */
function useActions(execution: ShownExecution, onOpen: (dialog: OpenDialog) => void): Action[] {
  const { t } = useTranslation('executions');
  const reader = useReader();
  const { vmId, id, cancelAskedAt, runbook, runbookVersion, secretParameters } = execution;
  const [isOperator, mayRun, isEnded] = [reader.can('operator'), mayRunPlans(reader), hasEnded(execution)];
  // After a success, nothing needs to be done next.
  const variant = isEnded && execution.state !== 'succeeded' ? 'primary' : undefined;
  const actions: (Action | false)[] = [
    !isEnded &&
      isOperator && {
        id: 'cancel',
        label: t(cancelAskedAt === null ? 'cancel.act' : 'cancel.pending'),
        icon: <X aria-hidden />,
        variant: 'danger',
        isDisabled: cancelAskedAt !== null,
        onSelect: () => onOpen('cancel'),
      },
    // A runbook runs again through its form, which asks for secret parameters again; any other plan after a confirmation,
    // unless it needs secret parameters, which only the API accepts.
    runbook !== null &&
      isOperator && {
        id: 'again',
        label: t('again'),
        icon: <RotateCw aria-hidden />,
        variant,
        href: runHref(vmId, { name: runbook, version: runbookVersion ?? undefined, from: id }),
      },
    runbook === null &&
      secretParameters.length === 0 &&
      mayRun && {
        id: 'again',
        label: t('again'),
        icon: <RotateCw aria-hidden />,
        variant,
        onSelect: () => onOpen('again'),
      },
    mayRun && {
      id: 'edit',
      label: t('again.edit'),
      icon: <Pencil aria-hidden />,
      href: `/vms/${vmId}/executions/new?from=${id}`,
    },
    isEnded &&
      isOperator && {
        id: 'compare',
        label: t('compare'),
        icon: <GitCompare aria-hidden />,
        href: `${executionHref(execution)}/compare`,
      },
    mayRun &&
      runbook === null && {
        id: 'runbook',
        label: t('saveAsRunbook'),
        icon: <NotebookPen aria-hidden />,
        onSelect: () => onOpen('runbook'),
      },
    isOperator && {
      id: 'download',
      label: t('download'),
      icon: <Download aria-hidden />,
      href: `/download/vms/${vmId}/executions/${id}/archive`,
      isDownload: true,
    },
  ];
  return actions.filter((action) => action !== false);
}

function ActionButton({ action, className }: { action: Action; className?: string }) {
  const { label, icon, href, isDownload, variant = 'default', isDisabled, onSelect } = action;
  if (href !== undefined) {
    return (
      <Button asChild variant={variant} className={className}>
        <ActionLink href={href} isDownload={isDownload}>
          {icon}
          {label}
        </ActionLink>
      </Button>
    );
  }
  return (
    <Button variant={variant} disabled={isDisabled} onClick={onSelect} className={className}>
      {icon}
      {label}
    </Button>
  );
}

interface ActionLinkProps extends Omit<ComponentProps<'a'>, 'href' | 'download'> {
  href: string;
  isDownload?: boolean | undefined;
}

/** A link to a page, or to a file that is downloaded. */
function ActionLink({ href, isDownload = false, ...props }: ActionLinkProps) {
  return isDownload ? <a {...props} href={href} download /> : <Link {...props} href={href} prefetch={false} />;
}

function ExecutionFacts({ execution }: { execution: ShownExecution }) {
  const { t } = useTranslation('executions');
  const { vmId, vmName, queuedAt, queuedBy, begunAt, concludedAt, note, run, reboots } = execution;
  const { runbook, runbookVersion, approval, rolloutId } = execution;
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
          <DateTime value={new Date(queuedAt)} />
          {rolloutId === null ? (
            <>
              {' · '}
              <span translate="no">{queuedBy}</span>
            </>
          ) : null}
        </>
      ),
    },
    rolloutId !== null && {
      label: t('fact.rollout'),
      value: (
        <TextLink href={`/rollouts/${rolloutId}`} translate="no">
          {queuedBy}
        </TextLink>
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

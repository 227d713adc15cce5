'use client';

import { SquareTerminal } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useId } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { cn } from '#app/_ui/cn.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { DateTime, Elapsed } from '#app/_ui/time.tsx';
import { firstError, isTail } from './first-error.ts';
import { MessageBody } from './message-body.tsx';
import { MessageSource } from './message-line.tsx';
import { RetryButton } from './retry/retry-button.tsx';
import { needsRetry } from './retry/retryable.ts';
import type { Retry } from './retry/use-retry.ts';
import { type Extension, tabHref } from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';

// Loaded on demand, since few cards need these components. The server renders them, so nothing moves when their
// scripts load.
const SubstatusTree = dynamic(() => import('./substatus-tree.tsx').then((module) => module.SubstatusTree));
const RefusedFile = dynamic(() => import('./refused-file.tsx').then((module) => module.RefusedFile));
const HeartbeatFoot = dynamic(() => import('./heartbeat-foot.tsx').then((module) => module.HeartbeatFoot));
const RetryNote = dynamic(() => import('./retry/retry-note.tsx').then((module) => module.RetryNote));

/** Loaded on demand. A placeholder reserves its space. */
const ExtensionMenu = dynamic(() => import('./extension-menu.tsx').then((module) => module.ExtensionMenu), {
  ssr: false,
  loading: () => <span className="size-(--control-sm) pointer-coarse:size-8" />,
});

export interface ExtensionCardProps {
  vmId: string;
  extension: Extension;
  /** When the view was loaded. */
  at: Date;
  retry: Retry;
  onAct(act: VmAct): void;
}

/** One extension: its health, its message and the message's source, its substatuses and its heartbeat. */
export function ExtensionCard({ vmId, extension, at, retry, onAct }: ExtensionCardProps) {
  const { t } = useTranslation('reports');
  const id = useId();
  const reader = useReader();
  const { name, handler, version, goalVersion, status, health, waiting } = extension;
  const drawn = waiting ? 'waiting' : statusOfHealth[health];
  const parts = status?.substatus ?? [];
  return (
    <article aria-labelledby={id} data-st={drawn} className="flex min-w-0 flex-col rounded-lg bg-surface shadow-card">
      <div className={cn('flex min-w-0 items-start gap-2 ps-4 pt-2', reader.can('operator') ? 'pe-2' : 'pe-4')}>
        <StatusIcon status={drawn} className="mt-[7px]" />
        <div className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-2 pt-0.5">
          <h3 id={id} translate="no" className="text-14 leading-6 font-semibold wrap-anywhere">
            {name}
          </h3>
          <span
            translate="no"
            className="mono min-w-0 gap-[1ch] text-ink-3 wrap-anywhere sm:flex sm:items-baseline"
            title={`${handler} ${version ?? goalVersion}`}
          >
            <span className="min-w-0 sm:truncate">{handler}</span>{' '}
            <button
              type="button"
              aria-label={t('card.whyVersion.named', { name, version: version ?? goalVersion })}
              title={t('card.whyVersion')}
              onClick={() => onAct({ kind: 'why-version', name })}
              className="min-h-6 rounded-xs underline decoration-line-control decoration-dotted underline-offset-3 hover:text-ink hover:decoration-current"
            >
              {version ?? goalVersion}
            </button>
          </span>
          {version !== null && version !== goalVersion ? (
            <span className="text-12 text-ink-2">{t('card.version.older', { goal: goalVersion })}</span>
          ) : null}
          <UpdateAvailable vmId={vmId} extension={extension} />
        </div>
        <span
          className={cn(
            'pt-0.5 text-12 leading-6 whitespace-nowrap text-st-text',
            health === 'healthy' ? 'font-normal' : 'font-medium',
          )}
        >
          {waiting ? t('health.waiting') : t(`health.${health}`)}
        </span>
        {reader.can('operator') ? (
          <ExtensionMenu vmId={vmId} extension={extension} retry={retry} onAct={onAct} />
        ) : null}
      </div>
      <div className="grid gap-2.5 px-4 pt-1.5 pb-3">
        <MainMessage extension={extension} at={at} />
        {extension.refusedStatus ? <RefusedFile kind="status" refused={extension.refusedStatus} /> : null}
        {extension.refusedHeartbeat ? <RefusedFile kind="heartbeat" refused={extension.refusedHeartbeat} /> : null}
        {parts.length > 0 ? <SubstatusTree parts={parts} label={t('card.substatus', { name })} /> : null}
        {status?.omittedSubstatuses ? (
          <p className="text-12 text-ink-2">{t('card.parts.omitted', { count: status.omittedSubstatuses })}</p>
        ) : null}
        {extension.handlerState?.failed ? <OutputLine vmId={vmId} extension={extension} /> : null}
        <CardRetry vmId={vmId} extension={extension} retry={retry} />
      </div>
      <HeartbeatFoot
        vmId={vmId}
        name={name}
        heartbeat={extension.heartbeat}
        deadlineAt={extension.deadlineAt}
        at={at}
      />
    </article>
  );
}

/** The scheduled retries and, for an extension with a problem, the button that runs the handler again. */
function CardRetry({ vmId, extension, retry }: Pick<ExtensionCardProps, 'vmId' | 'extension' | 'retry'>) {
  const reader = useReader();
  const { name, retries } = extension;
  const problem = retry.problem?.name === name ? retry.problem.message : null;
  const isOffered = reader.can('operator') && needsRetry(extension);
  if (!isOffered && retries === null && problem === null) return null;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
      {isOffered ? <RetryButton size="sm" named extension={extension} retry={retry} /> : null}
      {retries === null ? null : <RetryNote vmId={vmId} name={name} retries={retries} />}
      {problem === null ? null : (
        <span role="alert" className="text-12 text-failed-text">
          {problem}
        </span>
      )}
    </div>
  );
}

/** The newer version that the VM can run. For operators, a link to the editor with that version. */
function UpdateAvailable({ vmId, extension: { name, updateAvailable } }: { vmId: string; extension: Extension }) {
  const { t } = useTranslation('reports');
  const reader = useReader();
  if (updateAvailable === null) return null;
  const text = t('card.update', { version: updateAvailable });
  if (!reader.can('operator')) return <span className="text-12 text-ink-2">{text}</span>;
  return (
    <Link
      href={`/vms/${vmId}/extensions/${encodeURIComponent(name)}?version=${encodeURIComponent(updateAvailable)}`}
      title={t('card.update.act', { name, version: updateAvailable })}
      className="rounded-xs text-12 text-brand-text hover:underline"
    >
      {text}
    </Link>
  );
}

function MainMessage({ extension, at }: { extension: Extension; at: Date }) {
  const { t } = useTranslation('reports');
  const { status, handlerState, goalSequenceNumber, notice } = extension;
  const own = notice === null ? null : t(`said.${notice.code}`, notice.values);
  const message = own === null ? (status?.message ?? null) : null;
  const failed = handlerState?.failed === true;
  const sequence = (own === null ? status?.sequenceNumber : handlerState?.sequenceNumber) ?? goalSequenceNumber;
  const when = own === null ? (status?.timestampUTC ?? status?.readAt) : handlerState?.at;
  const command = handlerState?.command ?? '';
  return (
    <div>
      <div className="text-13 wrap-anywhere">
        {message ? <MessageBody message={message} /> : (own ?? t('card.noMessage'))}
      </div>
      <p className="mt-0.5 flex flex-wrap items-baseline gap-x-3 gap-y-0.5 text-11 text-ink-3 tabular-nums">
        {message?.truncated ? <span>{t('card.truncated')}</span> : null}
        {message ? <MessageSource message={message} /> : own === null ? null : <span>{t('card.byPortal')}</span>}
        {message?.id === undefined ? null : (
          <span className="wrap-anywhere">
            {t('card.message')}{' '}
            <span translate="no" className="mono-11">
              {message.id}
            </span>
          </span>
        )}
        <span>
          {sequence < goalSequenceNumber
            ? t('card.sequence.older', { sequence, goal: goalSequenceNumber })
            : t('card.sequence', { sequence })}
        </span>
        {failed && handlerState?.exitCode ? (
          <span>
            {command === ''
              ? t('output.exit', { exit: handlerState.exitCode })
              : t('card.exit', { command, exit: handlerState.exitCode })}
          </span>
        ) : null}
        {handlerState?.timedOut ? <span>{t('card.timedOut', { command })}</span> : null}
        {failed && (handlerState?.attempt ?? 0) > 1 ? (
          <span>{t('card.attempt', { attempt: handlerState?.attempt ?? 0 })}</span>
        ) : null}
        {when ? <DateTime value={new Date(when)} style="time" /> : null}
        {own === null && status?.stale ? (
          <span className="font-medium text-warning-text">
            {t('card.stale')} <Elapsed use="since" value={new Date(at.getTime() - status.staleSeconds * 1000)} />
          </span>
        ) : null}
      </p>
    </div>
  );
}

/** The output line that `firstError` finds, as a link to the whole output. */
function OutputLine({ vmId, extension }: { vmId: string; extension: Extension }) {
  const { t } = useTranslation('reports');
  const output = extension.handlerState?.outputTail ?? '';
  const found = firstError(output);
  if (found === null) return null;
  return (
    <Link
      href={tabHref(vmId, 'output', extension.name)}
      className="grid grid-cols-[14px_minmax(0,1fr)_auto] items-center gap-2 rounded-sm bg-sunken px-2 py-[5px] text-ink-2 hover:bg-hover"
    >
      <SquareTerminal aria-hidden className="size-3.5" />
      <span translate="no" className="mono-11 truncate leading-[18px]" title={found.text}>
        {found.text}
      </span>
      <span className="text-11 text-brand-text">
        {isTail(output) ? t('card.output') : t('card.line', { line: found.line })}
      </span>
    </Link>
  );
}

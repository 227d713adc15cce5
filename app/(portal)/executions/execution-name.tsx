'use client';

import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Status } from '#app/_ui/status.tsx';
import { executionHref, type ShownExecution } from './execution-data.ts';
import { shownState } from './shown-state.ts';
import { useOutcome } from './use-outcome.ts';

/** The state of an execution as an icon and a word. */
export function ExecutionState({ execution }: { execution: ShownExecution }) {
  const { t } = useTranslation('executions');
  const { word, status, shape } = shownState(execution);
  return (
    <Status status={status} shape={shape}>
      {t(`state.${word}`)}
    </Status>
  );
}

/** The name and version of an execution's plan, as a link to the execution. */
export function ExecutionName({ execution }: { execution: ShownExecution }) {
  const { t } = useTranslation('executions');
  const { name, version } = execution;
  return (
    <>
      <Link
        href={executionHref(execution)}
        prefetch={false}
        className="rounded-xs font-medium wrap-anywhere text-ink underline decoration-line underline-offset-3 hover:decoration-current"
      >
        {name === '' ? t('unnamed') : <span translate="no">{name}</span>}
      </Link>{' '}
      <span translate="no" className="mono text-12 text-ink-2">
        {version}
      </span>
    </>
  );
}

/** How an execution ended: its sentence and its code. */
export function Outcome({ execution }: { execution: ShownExecution }) {
  const { t } = useTranslation('executions');
  const outcome = useOutcome()(execution);
  const { state, errorCode, late } = execution;
  if (outcome === null) return null;
  return (
    <>
      <span className="wrap-anywhere">{outcome}</span>
      {errorCode === null || (errorCode === 0 && state === 'succeeded') ? null : (
        <span className="ms-1.5 text-12 whitespace-nowrap text-ink-3">{t('code', { code: errorCode })}</span>
      )}
      {late ? <span className="ms-1.5 text-12 text-ink-3">{t('late')}</span> : null}
    </>
  );
}

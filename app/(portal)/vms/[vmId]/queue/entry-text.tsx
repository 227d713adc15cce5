'use client';

import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { executionHref } from '#app/(portal)/executions/execution-href.ts';
import type { QueueGroup } from './queue-groups.ts';
import { StepsText } from './steps-text.tsx';

/** The name of an extension, or the name of an execution's plan as a link to the execution. */
export function EntryName({ vmId, group: { name, execution } }: { vmId: string; group: QueueGroup }) {
  const { t } = useTranslation('reports');
  if (execution !== null) {
    return (
      <TextLink href={executionHref({ vmId, id: execution.id })} className="font-medium wrap-anywhere">
        {name === '' ? t('queue.unnamed') : <span translate="no">{name}</span>}
      </TextLink>
    );
  }
  return (
    <span className="font-medium wrap-anywhere" translate="no">
      {name}
    </span>
  );
}

/** What an entry does: the commands of an extension, or the version and the running call of an execution. */
export function EntryText({ group: { execution, steps } }: { group: QueueGroup }) {
  const { t } = useTranslation('reports');
  if (execution === null) return <StepsText steps={steps} />;
  const { version, call } = execution;
  const plan = t('queue.execution', { version });
  if (call === null) return plan;
  const name = [call.script, call.function].filter((part) => part !== null).join('.');
  return `${plan} · ${name === '' ? t('queue.call.api', { n: call.n }) : t('queue.call', { n: call.n, name })}`;
}

/** When a waiting execution expires. */
export function Expiry({ group: { execution } }: { group: QueueGroup }) {
  const { t } = useTranslation('reports');
  if (!execution?.validUntil) return null;
  return (
    <span className="block text-12 text-pretty text-ink-2">
      <Trans text={t('queue.expires')} tags={{ time: <RelativeTime value={new Date(execution.validUntil)} /> }} />
    </span>
  );
}

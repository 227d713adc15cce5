'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { ShownExecution } from './execution-data.ts';

/** Who queued an execution. If a rollout did, a link to the rollout. */
export function QueuedBy({ execution: { queuedBy, rolloutId } }: { execution: ShownExecution }) {
  const { t } = useTranslation('executions');
  if (rolloutId === null) return <span translate="no">{queuedBy}</span>;
  return (
    <>
      {t('fact.rollout')}{' '}
      <TextLink href={`/rollouts/${rolloutId}`} translate="no">
        {queuedBy}
      </TextLink>
    </>
  );
}

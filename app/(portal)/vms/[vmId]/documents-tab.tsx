'use client';

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { CopyButton } from '#app/_ui/copy.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { InstanceView } from './vm-data.ts';

/** The raw documents behind the page: what the agent is told, and what the portal answers. */
export function DocumentsTab({ vmId, view }: { vmId: string; view: InstanceView }) {
  const { t } = useTranslation('goal-states');
  const trpc = useTRPC();
  const goalState = useQuery(trpc.goalStates.get.queryOptions({ vmId }));
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      {goalState.data ? (
        <JsonDocument title={t('documents.goalState')} note={t('documents.goalState.note')} value={goalState.data} />
      ) : (
        <Card>
          {goalState.error ? (
            <QueryError error={goalState.error} onRetry={goalState.refetch} at={new Date(goalState.errorUpdatedAt)} />
          ) : (
            <SkeletonRows columns={['w-40', 'w-24']} rows={10} label={t('documents.loading')} />
          )}
        </Card>
      )}
      <JsonDocument title={t('documents.instanceView')} note={t('documents.instanceView.note')} value={view} />
    </div>
  );
}

function JsonDocument({ title, note, value }: { title: string; note: string; value: unknown }) {
  const { t } = useTranslation('goal-states');
  const text = JSON.stringify(value, null, 2);
  return (
    <Card>
      <CardHeader
        title={title}
        note={note}
        actions={<CopyButton text={text} label={t('documents.copy', { document: title })} />}
      />
      <CardBody>
        <CodeBlock language="json" code={text} label={title} className="max-h-[70vh]" />
      </CardBody>
    </Card>
  );
}

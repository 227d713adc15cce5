'use client';

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import type { InstanceDetails } from '../vm-data.ts';
import { DocumentActs, JsonDocument } from './json-document.tsx';
import { LatestDocuments } from './latest-documents.tsx';
import { ReportHistory } from './report-history.tsx';

/**
 * The raw documents of a VM: goal states in the form that the agent receives, reports as received, and the portal's
 * instance view.
 */
export function DocumentsTab({ vmId, view }: { vmId: string; view: InstanceDetails }) {
  const { t } = useTranslation('goal-states');
  const instanceView = { title: t('documents.instanceView'), value: view, file: `${view.name}-instance-view` };
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <GoalStateDocument vmId={vmId} view={view} />
        <Card>
          <CardHeader
            title={instanceView.title}
            note={t('documents.instanceView.note')}
            actions={<DocumentActs {...instanceView} />}
          />
          <CardBody>
            <JsonDocument {...instanceView} isAlone className="max-h-96" />
          </CardBody>
        </Card>
      </div>
      <LatestDocuments view={view} />
      <ReportHistory view={view} />
    </div>
  );
}

type Which = 'inForce' | 'delivered';

function GoalStateDocument({ vmId, view }: { vmId: string; view: InstanceDetails }) {
  const { t } = useTranslation('goal-states');
  const trpc = useTRPC();
  const [which, setWhich] = useState<Which>('inForce');
  const inForce = useQuery(trpc.goalStates.get.queryOptions({ vmId }));
  const delivered = useQuery({ ...trpc.goalStates.delivered.queryOptions({ vmId }), enabled: which === 'delivered' });
  const chosen = which === 'inForce' ? inForce : delivered;
  const value = which === 'inForce' ? inForce.data : delivered.data?.document;
  const at = delivered.data?.deliveredAt ?? null;
  const title = t('documents.goalState');
  const document = value && { title, value, file: `${view.name}-goal-state-${value.incarnation}` };
  return (
    <Card>
      <CardHeader
        title={title}
        note={t('documents.goalState.note')}
        actions={
          <>
            <Segmented<Which>
              label={t('documents.which')}
              value={which}
              onChange={setWhich}
              options={[
                { value: 'inForce', label: t('documents.inForce', { incarnation: view.incarnation }) },
                { value: 'delivered', label: t('documents.delivered', { incarnation: view.deliveredIncarnation }) },
              ]}
            />
            {document ? <DocumentActs {...document} /> : null}
          </>
        }
      />
      {chosen.error && !chosen.data ? (
        <QueryError error={chosen.error} onRetry={chosen.refetch} at={new Date(chosen.errorUpdatedAt)} />
      ) : document ? (
        <CardBody>
          <JsonDocument
            {...document}
            note={
              which === 'delivered' && at !== null ? (
                <Trans text={t('documents.deliveredAt')} tags={{ time: <RelativeTime value={new Date(at)} /> }} />
              ) : undefined
            }
            isAlone
            className="max-h-96"
          />
        </CardBody>
      ) : chosen.isPending ? (
        <SkeletonRows columns={['w-40', 'w-24']} rows={10} label={t('documents.loading')} />
      ) : (
        <p className="px-4 pb-4 text-ink-2">{t('documents.notDelivered')}</p>
      )}
    </Card>
  );
}

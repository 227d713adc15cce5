'use client';

import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'next/navigation';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Select } from '#app/_ui/select.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { putInAddress } from '../put-in-address.ts';
import type { InstanceDetails } from '../vm-data.ts';
import { JsonDocument } from './json-document.tsx';

/**
 * The latest handler state, heartbeat and status of an extension, as sent, or as parsed if the original text is no
 * longer stored.
 */
export function LatestDocuments({ view }: { view: InstanceDetails }) {
  const { t } = useTranslation('goal-states');
  const trpc = useTRPC();
  const wanted = useSearchParams().get('of');
  const names = view.extensions.map(({ name }) => name);
  const name = names.find((each) => each === wanted) ?? names[0];
  const latest = useQuery({
    ...trpc.instanceViews.latest.queryOptions({ vmId: view.vmId, extension: name ?? '-' }),
    enabled: name !== undefined,
  });
  if (name === undefined) return null;
  return (
    <Card>
      <CardHeader
        title={t('documents.latest')}
        note={t('documents.latest.note')}
        actions={
          <Select
            className="w-44"
            aria-label={t('documents.extension')}
            value={name}
            onChange={(event) => putInAddress({ of: event.target.value })}
            options={names.map((value) => ({ value, label: value }))}
          />
        }
      />
      {latest.error && !latest.data ? (
        <QueryError error={latest.error} onRetry={latest.refetch} at={new Date(latest.errorUpdatedAt)} />
      ) : latest.data === undefined ? (
        <SkeletonRows columns={['w-40', 'w-24']} rows={6} label={t('documents.loading')} />
      ) : (
        <CardBody className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,320px),1fr))] items-start gap-4">
          {latest.data.length === 0 ? <p className="text-ink-2">{t('documents.latest.none', { name })}</p> : null}
          {latest.data.map(({ kind, at, document, sequenceNumber, asRead }) => (
            <JsonDocument
              key={kind}
              title={t(`documents.kind.${kind}`)}
              note={
                <>
                  {sequenceNumber === null ? null : `${t('documents.sequence', { sequence: sequenceNumber })}, `}
                  <DateTime value={new Date(at)} />
                  {asRead ? `, ${t('documents.asRead')}` : null}
                </>
              }
              value={document}
              file={`${view.name}-${name}-${kind}`}
              className="max-h-96"
            />
          ))}
        </CardBody>
      )}
    </Card>
  );
}

'use client';

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { ActSentence } from '#app/(portal)/activity/act-sentence.tsx';
import { ActorMark } from '#app/(portal)/activity/actor-mark.tsx';
import type { ShownRollout } from '../rollout-data.ts';

/** Who created, planned, approved, started, paused and resumed a rollout, and what the portal did. */
export function RecordCard({ rollout: { id } }: { rollout: ShownRollout }) {
  const { t } = useTranslation('rollouts');
  const trpc = useTRPC();
  const record = useQuery(trpc.activity.list.queryOptions({ target: `rollout:${id}`, limit: 50 }));
  return (
    <Card aria-labelledby="record">
      <CardHeader
        id="record"
        title={t('live.record')}
        actions={
          <TextLink href={`/activity?target=${encodeURIComponent(`rollout:${id}`)}`} className="text-12">
            {t('live.record.activity')}
          </TextLink>
        }
      />
      {record.error && !record.data ? (
        <QueryError title={t('live.record.failed')} error={record.error} onRetry={record.refetch} />
      ) : record.isPending ? (
        <SkeletonRows columns={['w-48']} rows={4} label={t('live.steps.loading')} />
      ) : (
        <ol className="grid gap-2.5 px-4 pb-4">
          {record.data.items.map((act) => (
            <li key={act.id} className="flex items-start gap-2">
              <ActorMark actor={act.actor} />
              <p className="min-w-0 flex-1 text-ink-2 wrap-anywhere">
                <ActSentence act={act} fold={null} onFilter={undefined} />
              </p>
              <DateTime value={act.at} style="short" className="text-12 whitespace-nowrap text-ink-3 tabular-nums" />
            </li>
          ))}
          {record.data.items.length === 0 ? <li className="text-ink-3">{t('live.record.none')}</li> : null}
        </ol>
      )}
    </Card>
  );
}

'use client';

import { useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { ShieldCheck } from 'lucide-react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { RelativeTime } from '#app/_ui/time.tsx';
import type { AppRouter } from '#server/trpc/root.ts';

type Chain = inferRouterOutputs<AppRouter>['activity']['chain'];

/**
 * The state of the activity log: its length and last check, or a banner if its chain is broken or the check is overdue.
 */
export function ChainState({ initial }: { initial: Chain }) {
  const { t } = useTranslation('activity');
  const format = useFormat();
  const trpc = useTRPC();
  const { data } = useQuery({ ...trpc.activity.chain.queryOptions(), initialData: initial, refetchInterval: 30_000 });
  if (data.fault !== null) {
    const { kind, id, position } = data.fault;
    return (
      <Banner status="failed" boxed role="alert" className="mt-3">
        <p className="font-medium">
          {id === null ? t('chain.broken') : t('chain.broken.at', { id: format.number(id) })}
        </p>
        <p className="text-ink-2">
          {t(`chain.fault.${kind}`, { position: format.number(position ?? 0) })} {t('chain.broken.next')}
        </p>
      </Banner>
    );
  }
  if (data.position === 0) return null;
  if (data.isStale) {
    return (
      <Banner status="warning" boxed className="mt-3">
        <p className="font-medium">{t('chain.stale')}</p>
        <p className="text-ink-2">
          {data.checkedAt === null ? (
            t('chain.stale.never')
          ) : (
            <Trans text={t('chain.stale.since')} tags={{ when: <RelativeTime value={data.checkedAt} /> }} />
          )}
        </p>
      </Banner>
    );
  }
  return (
    <p className="mt-1 flex items-start gap-x-1.5 text-12 text-ink-3">
      <ShieldCheck aria-hidden className="mt-0.5 size-3.5 shrink-0" />
      <span title={data.hash}>
        {data.verifiedAt === null ? (
          t('chain.unverified', { count: data.position })
        ) : (
          <Trans
            text={t(data.verifiedPosition === data.position ? 'chain.intact' : 'chain.partly', {
              count: data.position,
              position: format.number(data.verifiedPosition ?? 0),
            })}
            tags={{ when: <RelativeTime value={data.verifiedAt} /> }}
          />
        )}
      </span>
    </p>
  );
}

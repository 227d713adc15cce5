'use client';

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Banner } from '#app/_ui/banner.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { openStates } from '#server/domain/rollout-rules/words.ts';

/** Number of rollouts that are named. */
const named = 5;

/** States in which a rollout stops when its version is withdrawn. */
const stopping = openStates.filter((state) => state !== 'aborting');

/** Names the open rollouts that declare a version, because they stop when it is withdrawn. */
export function StoppedRollouts({ handler, version }: { handler: string; version: string }) {
  const { t } = useTranslation('packages');
  const trpc = useTRPC();
  const explain = useProblem();
  const list = useQuery(trpc.rollouts.list.queryOptions({ handler, state: stopping, limit: 200 }));
  if (list.error && !list.data) {
    return (
      <Banner boxed status="unknown">
        {t('withdraw.stops.failed', { reason: explain(list.error).message })}
      </Banner>
    );
  }
  if (list.data === undefined) {
    return (
      <div role="status" aria-label={t('withdraw.stops.loading')} className="flex min-h-[38px] items-center">
        <Skeleton className="w-56" />
      </div>
    );
  }
  const stopped = list.data.items.filter(({ change }) => change.version === version);
  if (stopped.length === 0) return null;
  const rest = stopped.length - named;
  return (
    <Banner boxed status="warning">
      {t('withdraw.stops', { count: stopped.length })}
      <ul className="mt-0.5">
        {stopped.slice(0, named).map(({ id, name }) => (
          <li key={id}>
            <TextLink href={`/rollouts/${id}`} prefetch={false} translate="no" className="wrap-anywhere">
              {name}
            </TextLink>
          </li>
        ))}
        {rest > 0 ? <li>{t('withdraw.stops.more', { count: rest })}</li> : null}
      </ul>
    </Banner>
  );
}

'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useCallback, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { WordsOnDemand } from '#app/_lib/i18n/words-on-demand.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { Card } from '#app/_ui/card.tsx';
import type { RolloutPage } from '../../rollouts/rollout-data.ts';
import { openRolloutsOf } from './open-rollouts-query.ts';

/** Loaded on demand, since few handlers have an open rollout. The server renders it if there is one. */
const RolloutsCard = dynamic(() => import('./rollouts-card.tsx').then((module) => module.RolloutsCard));

const namespaces = ['rollouts'] as const;

export interface OpenRolloutsProps {
  handler: string;
  /** The open rollouts that the server has loaded; undefined if it could not read them. */
  first: RolloutPage | undefined;
}

/** The open rollouts of a handler; renders nothing if there are none. */
export function OpenRollouts({ handler, first }: OpenRolloutsProps) {
  const { t } = useTranslation('packages');
  const trpc = useTRPC();
  const input = openRolloutsOf(handler);
  const list = useQuery({ ...trpc.rollouts.list.queryOptions(input), initialData: first, enabled: false });
  useThrottledReload({
    queryKey: trpc.rollouts.list.queryKey(input),
    refetch: list.refetch,
    agesMs: 60_000,
    pauseMs: 2_000,
  });
  const [hasNoWords, setNoWords] = useState(false);
  const onFailed = useCallback(() => setNoWords(true), []);
  if (list.error && !list.data) {
    return (
      <Card>
        <QueryError
          title={t('rollouts.failed')}
          error={list.error}
          onRetry={list.refetch}
          at={new Date(list.errorUpdatedAt)}
        />
      </Card>
    );
  }
  const rollouts = list.data?.items ?? [];
  if (rollouts.length === 0 || hasNoWords) return null;
  return (
    <WordsOnDemand namespaces={namespaces} onFailed={onFailed}>
      <RolloutsCard handler={handler} rollouts={rollouts} />
    </WordsOnDemand>
  );
}

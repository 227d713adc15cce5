'use client';

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { Elapsed } from '#app/_ui/time.tsx';
import { ActSentence } from '../activity/act-sentence.tsx';
import { ActorMark } from '../activity/actor-mark.tsx';
import type { OverviewAnswers } from './answers.ts';
import { Part } from './part.tsx';

/** The latest actions of people and programs. */
export function ActsCard({ first }: { first: OverviewAnswers['acts'] | undefined }) {
  const { t } = useTranslation('overview');
  const trpc = useTRPC();
  const acts = useQuery({ ...trpc.overview.acts.queryOptions(), initialData: first, enabled: false });
  useThrottledReload({ queryKey: trpc.overview.acts.queryKey(), refetch: acts.refetch, agesMs: 60_000 });
  return (
    <Card aria-labelledby="acts">
      <CardHeader id="acts" title={t('acts')} actions={<TextLink href="/activity">{t('acts.all')}</TextLink>} />
      <Part query={acts} failed={t('acts.failed')}>
        {(items) =>
          items.length === 0 ? (
            <p className="px-4 pb-4 text-12 text-ink-3">{t('acts.none')}</p>
          ) : (
            <ul className="pb-2">
              {items.map((act) => (
                <li key={act.id} className="flex items-start gap-2.5 px-4 py-[7px]">
                  <ActorMark actor={act.actor} />
                  <p className="min-w-0 flex-1 text-ink-2 wrap-anywhere">
                    <ActSentence act={act} />
                  </p>
                  <Elapsed value={act.at} className="shrink-0 text-12 text-ink-3 tabular-nums" />
                </li>
              ))}
            </ul>
          )
        }
      </Part>
    </Card>
  );
}

'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { Num } from '#app/_ui/num.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { ListedRollout } from '../../rollouts/rollout-data.ts';
import { RolloutItem } from '../../rollouts/rollout-item.tsx';

export interface RolloutsCardProps {
  handler: string;
  /** The open rollouts of the handler; at least one. */
  rollouts: readonly ListedRollout[];
}

/** The rollouts that change the handler's extensions at the moment. */
export function RolloutsCard({ handler, rollouts }: RolloutsCardProps) {
  const { t } = useTranslation('packages');
  return (
    <Card>
      <CardHeader
        title={t('rollouts.title')}
        note={<Num value={rollouts.length} />}
        actions={
          <TextLink href={`/rollouts?handler=${encodeURIComponent(handler)}`} prefetch={false}>
            {t('rollouts.all')}
          </TextLink>
        }
      />
      <ul>
        {rollouts.map((row) => (
          <RolloutItem key={row.id} row={row} isPart={false} isCursor={false} />
        ))}
      </ul>
    </Card>
  );
}

'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { isUndecided, type Membership } from './memberships.ts';
import { RolloutLine } from './rollout-line.tsx';
import type { useMemberships } from './use-memberships.ts';

/** Number of rollouts that are shown at first. */
const shownAtFirst = 3;

/** The open rollouts in which the VM is not decided, one line each; renders nothing if there are none. */
export function RolloutLines({ list }: { list: ReturnType<typeof useMemberships> }) {
  if (list.error && !list.data) return <LoadFailed error={list.error} onRetry={() => void list.refetch()} />;
  const open = list.data?.items.filter(isUndecided) ?? [];
  return open.length === 0 ? null : <Lines memberships={open} />;
}

function Lines({ memberships }: { memberships: readonly Membership[] }) {
  const { t } = useTranslation('memberships');
  const [all, setAll] = useState(false);
  const rest = memberships.length - shownAtFirst;
  return (
    <Card aria-label={t('label')} className="mb-4">
      <ul className="divide-y divide-line-subtle">
        {(all ? memberships : memberships.slice(0, shownAtFirst)).map((membership) => (
          <RolloutLine key={membership.rollout.id} membership={membership} />
        ))}
      </ul>
      {rest <= 0 ? null : (
        <div className="border-t border-line-subtle p-1.5">
          <Button size="sm" variant="ghost" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? t('fewer') : t('more', { count: rest })}
          </Button>
        </div>
      )}
    </Card>
  );
}

/** Says that the rollouts of the VM could not be loaded. The rest of the page does not need them. */
export function LoadFailed({ error, onRetry }: { error: unknown; onRetry(): void }) {
  const { t } = useTranslation(['memberships', 'common']);
  const { message } = useProblem()(error);
  return (
    <Banner
      boxed
      status="unknown"
      className="mb-4"
      actions={
        <Button size="sm" onClick={onRetry}>
          {t('common:tryAgain')}
        </Button>
      }
    >
      {t('memberships:failed')}. {message}
    </Banner>
  );
}

'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Select } from '#app/_ui/select.tsx';
import { type MapGrouping, overviewAddress } from '../addresses.ts';

interface NamedRollout {
  id: string;
  name: string;
}

export interface ColorChoiceProps {
  /** The grouping in the URL. */
  wish: MapGrouping | undefined;
  /** The rollout in the URL, by which the map is colored. */
  rollout: string | undefined;
  /** Its name, once it is loaded. */
  named: NamedRollout | undefined;
  open: readonly NamedRollout[];
}

/** Chooses whether the map shows health or an open rollout. Renders nothing if there is no rollout to choose. */
export function ColorChoice({ wish, rollout, named, open }: ColorChoiceProps) {
  const { t } = useTranslation('overview');
  if (open.length === 0 && rollout === undefined) return null;
  const isListed = rollout === undefined || open.some(({ id }) => id === rollout);
  const shown = isListed ? open : [...open, named ?? { id: rollout, name: t('map.rollout.unknown') }];
  return (
    <>
      <span className="text-12 text-ink-3 max-md:sr-only">{t('map.colorBy')}</span>
      <Select
        aria-label={t('map.colorBy')}
        value={rollout ?? ''}
        onChange={(event) => {
          const id = event.target.value;
          window.history.pushState(null, '', overviewAddress(wish, id === '' ? undefined : id));
        }}
        options={[
          { value: '', label: t('map.colorBy.health') },
          ...shown.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        className="w-32 sm:w-44"
      />
    </>
  );
}

/** Says that the states of the rollout could not be loaded. The map then shows health. */
export function ColorsFailed({ error, onRetry }: { error: unknown; onRetry(): void }) {
  const { t } = useTranslation(['overview', 'common']);
  const { message } = useProblem()(error);
  return (
    <div className="px-4 pb-3">
      <Banner
        boxed
        status="unknown"
        actions={
          <Button size="sm" onClick={onRetry}>
            {t('common:tryAgain')}
          </Button>
        }
      >
        {t('overview:map.rollout.failed')}. {message}
      </Banner>
    </div>
  );
}

'use client';

import { useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Input, SearchInput } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { rolloutKinds, rolloutStates } from '#server/domain/rollout-rules/words.ts';
import { addressOfFilter, filterOfAddress, type RolloutsFilter } from './rollouts-address.ts';

export interface RolloutsFiltersProps {
  filter: RolloutsFilter;
  onChange(filter: RolloutsFilter): void;
  /** Removes all filters. The page then renders new fields. */
  onClear(): void;
}

/** Delay in milliseconds between the last keystroke and loading the list. */
const settleMs = 250;

/** Filters of the list: name, state, kind and handler. */
export function RolloutsFilters({ filter, onChange, onClear }: RolloutsFiltersProps) {
  const { t } = useTranslation('rollouts');
  const [typed, setTyped] = useState({ q: filter.q ?? '', handler: filter.handler ?? '' });
  const { state, kind, needing } = filter;
  const isChanged = addressOfFilter(filterOfAddress({ ...filter, ...typed })) !== addressOfFilter(filter);
  useEffect(() => {
    if (!isChanged) return;
    const timer = setTimeout(() => onChange(filterOfAddress({ state, kind, needing, ...typed })), settleMs);
    return () => clearTimeout(timer);
  }, [isChanged, typed, state, kind, needing, onChange]);
  const put = (part: Record<string, string>) => onChange(filterOfAddress({ ...filter, ...typed, ...part }));
  return (
    <search className="mb-3 flex flex-wrap items-center gap-2">
      <SearchInput
        label={t('list.search')}
        className="max-sm:w-full"
        value={typed.q}
        maxLength={200}
        onChange={(event) => setTyped({ ...typed, q: event.target.value })}
      />
      <Select
        aria-label={t('list.state')}
        className="w-48 max-sm:w-auto max-sm:flex-[1_1_40%]"
        value={state ?? ''}
        onChange={(event) => put({ state: event.target.value })}
        options={[
          { value: '', label: t('list.anyState') },
          ...rolloutStates.map((value) => ({ value, label: t(`state.${value}`) })),
        ]}
      />
      <Select
        aria-label={t('list.kind')}
        className="w-40 max-sm:w-auto max-sm:flex-[1_1_40%]"
        value={kind ?? ''}
        onChange={(event) => put({ kind: event.target.value })}
        options={[
          { value: '', label: t('list.anyKind') },
          ...rolloutKinds.map((value) => ({ value, label: t(`kind.${value}`) })),
        ]}
      />
      <Input
        aria-label={t('list.handler')}
        before={
          <span aria-hidden className="shrink-0 text-12 text-ink-3">
            {t('list.handler')}
          </span>
        }
        className="w-64 max-sm:w-full"
        value={typed.handler}
        maxLength={200}
        onChange={(event) => setTyped({ ...typed, handler: event.target.value })}
      />
      <Button aria-pressed={needing === 'yes'} onClick={() => put({ needing: needing === 'yes' ? '' : 'yes' })}>
        {t('list.needs')}
      </Button>
      {addressOfFilter(filter) === '' ? null : (
        <Button variant="ghost" onClick={onClear}>
          {t('list.clear')}
        </Button>
      )}
    </search>
  );
}

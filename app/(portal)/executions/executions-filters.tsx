'use client';

import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Input, SearchInput } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { addressOfFilter, type ExecutionsFilter, filterOfAddress, filterStates } from './executions-address.ts';

export interface ExecutionsFiltersProps {
  filter: ExecutionsFilter;
  onChange(filter: ExecutionsFilter): void;
  /** Removes all filters. The page then renders new fields. */
  onClear(): void;
}

/** Delay in milliseconds between the last keystroke and loading the list. */
const settleMs = 250;

/** Filters of the list: names, state, code, person, and the rollout whose page leads here. */
export function ExecutionsFilters({ filter, onChange, onClear }: ExecutionsFiltersProps) {
  const { t } = useTranslation('executions');
  const [typed, setTyped] = useState(() => typedOf(filter));
  const { state, rollout } = filter;
  const next = filterOfAddress({ ...typed, state, rollout });
  const isChanged = addressOfFilter(next) !== addressOfFilter(filter);
  useEffect(() => {
    if (!isChanged) return;
    const timer = setTimeout(() => onChange(filterOfAddress({ ...typed, state, rollout })), settleMs);
    return () => clearTimeout(timer);
  }, [isChanged, typed, state, rollout, onChange]);
  const type = (name: keyof typeof typed) => (event: { target: { value: string } }) =>
    setTyped({ ...typed, [name]: event.target.value });
  return (
    <search className="mb-3 flex flex-wrap items-center gap-2">
      <SearchInput
        label={t('filter.q')}
        className="max-sm:w-full"
        value={typed.q}
        maxLength={200}
        onChange={type('q')}
      />
      <Select
        aria-label={t('filter.state')}
        className="w-44 max-sm:w-full"
        value={state ?? ''}
        onChange={(event) => onChange(filterOfAddress({ ...typed, state: event.target.value, rollout }))}
        options={[
          { value: '', label: t('filter.anyState') },
          ...filterStates.map((state) => ({ value: state, label: t(`state.${state}`) })),
        ]}
      />
      <Input
        aria-label={t('filter.by')}
        before={<FilterLabel>{t('filter.by')}</FilterLabel>}
        className="w-52 max-sm:w-full"
        value={typed.by}
        maxLength={200}
        onChange={type('by')}
      />
      <Input
        aria-label={t('filter.runbook')}
        before={<FilterLabel>{t('filter.runbook')}</FilterLabel>}
        className="w-48 max-sm:w-auto max-sm:flex-[1_1_45%]"
        value={typed.runbook}
        maxLength={64}
        onChange={type('runbook')}
      />
      <Input
        aria-label={t('filter.code')}
        before={<FilterLabel>{t('filter.code')}</FilterLabel>}
        inputMode="numeric"
        className="w-36 max-sm:w-auto max-sm:flex-[1_1_35%]"
        value={typed.code}
        maxLength={10}
        onChange={type('code')}
      />
      {rollout === undefined ? null : (
        <RolloutChip id={rollout} onRemove={() => onChange(filterOfAddress({ ...typed, state }))} />
      )}
      {addressOfFilter(filter) === '' ? null : (
        <Button variant="ghost" onClick={onClear}>
          {t('filter.clear')}
        </Button>
      )}
    </search>
  );
}

/** The rollout to which the list is limited. */
function RolloutChip({ id, onRemove }: { id: string; onRemove(): void }) {
  const { t } = useTranslation('executions');
  const trpc = useTRPC();
  const rollout = useQuery(trpc.rollouts.get.queryOptions({ id }));
  const name = rollout.data?.name ?? id.slice(0, 8);
  return (
    <Button className="max-w-full" aria-label={t('filter.rollout.remove', { name })} onClick={onRemove}>
      <span className="min-w-0 truncate">
        {t('filter.rollout')}{' '}
        <b translate="no" className="font-medium">
          {name}
        </b>
      </span>
      <X aria-hidden />
    </Button>
  );
}

/** The label inside a field. Unlike a placeholder, it stays when the field is filled. */
function FilterLabel({ children }: { children: string }) {
  return (
    <span aria-hidden className="shrink-0 text-12 text-ink-3">
      {children}
    </span>
  );
}

const typedOf = ({ q = '', by = '', runbook = '', code }: ExecutionsFilter) => ({
  ...{ q, by, runbook },
  code: code === undefined ? '' : `${code}`,
});

'use client';

import { useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Input, SearchInput } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { executionStates } from '#protocol/executions/states.ts';
import { addressOfFilter, type ExecutionsFilter, filterOfAddress } from './executions-address.ts';

export interface ExecutionsFiltersProps {
  filter: ExecutionsFilter;
  onChange(filter: ExecutionsFilter): void;
  /** Removes all filters. The page then renders new fields. */
  onClear(): void;
}

/** Delay in milliseconds between the last keystroke and loading the list. */
const settleMs = 250;

/** Filters of the list: names, state, code and person. */
export function ExecutionsFilters({ filter, onChange, onClear }: ExecutionsFiltersProps) {
  const { t } = useTranslation('executions');
  const [typed, setTyped] = useState(() => typedOf(filter));
  const next = filterOfAddress({ ...typed, state: filter.state });
  const isChanged = addressOfFilter(next) !== addressOfFilter(filter);
  useEffect(() => {
    if (!isChanged) return;
    const timer = setTimeout(() => onChange(filterOfAddress({ ...typed, state: filter.state })), settleMs);
    return () => clearTimeout(timer);
  }, [isChanged, typed, filter.state, onChange]);
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
        value={filter.state ?? ''}
        onChange={(event) => onChange(filterOfAddress({ ...typed, state: event.target.value }))}
        options={[
          { value: '', label: t('filter.anyState') },
          ...executionStates.map((state) => ({ value: state, label: t(`state.${state}`) })),
        ]}
      />
      <Input
        aria-label={t('filter.by')}
        placeholder={t('filter.by')}
        className="w-36 max-sm:w-auto max-sm:flex-[1_1_40%]"
        value={typed.by}
        maxLength={200}
        onChange={type('by')}
      />
      <Input
        aria-label={t('filter.runbook')}
        placeholder={t('filter.runbook')}
        className="w-40 max-sm:w-auto max-sm:flex-[1_1_30%]"
        value={typed.runbook}
        maxLength={64}
        onChange={type('runbook')}
      />
      <Input
        aria-label={t('filter.code')}
        placeholder={t('filter.code')}
        inputMode="numeric"
        className="w-24 max-sm:w-auto max-sm:flex-[1_1_30%]"
        value={typed.code}
        maxLength={10}
        onChange={type('code')}
      />
      {addressOfFilter(filter) === '' ? null : (
        <Button variant="ghost" onClick={onClear}>
          {t('filter.clear')}
        </Button>
      )}
    </search>
  );
}

const typedOf = ({ q = '', by = '', runbook = '', code }: ExecutionsFilter) => ({
  ...{ q, by, runbook },
  code: code === undefined ? '' : `${code}`,
});

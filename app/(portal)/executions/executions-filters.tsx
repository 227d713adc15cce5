'use client';

import { useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
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
      {addressOfFilter(filter) === '' ? null : (
        <Button variant="ghost" onClick={onClear}>
          {t('filter.clear')}
        </Button>
      )}
    </search>
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

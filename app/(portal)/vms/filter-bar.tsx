'use client';

import dynamic from 'next/dynamic';
import { type ComponentType, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { AddFilterButton, FilterChip } from '#app/_ui/filter-chip.tsx';
import { SearchInput } from '#app/_ui/input.tsx';
import type { FleetFilter, ListedField } from '#server/domain/fleet/index.ts';
import type { FilterMenuProps } from './filter-menu.tsx';
import { useFilterWords } from './use-filter-words.ts';
import type { FleetAddress } from './use-fleet-address.ts';

const loadMenu = () => import('./filter-menu.tsx');
const FilterMenu: ComponentType<FilterMenuProps> = dynamic(() => loadMenu().then((module) => module.FilterMenu), {
  ssr: false,
});

/** The search field, the active filters, and buttons that add filters. */
export function FilterBar({ address }: { address: FleetAddress }) {
  const { t } = useTranslation('vms');
  const { filter } = address.query;
  const set = (change: FleetFilter) => address.change({ filter: { ...filter, ...change } });
  const values: Readonly<Record<string, unknown>> = filter;
  // The health of an extension is offered once a filter asks for an extension, as it often equals that of the VM.
  const asksForExtension = ['handler', 'version', 'olderThan', 'messageId', 'cause'].some((name) =>
    hasValue(values[name]),
  );
  const offered = address.fields.filter(
    ({ name, find }) =>
      name === 'tags' || (find !== null && !hasValue(values[name]) && (name !== 'state' || asksForExtension)),
  );
  return (
    <>
      <SearchInput
        label={t('search')}
        value={address.search}
        maxLength={200}
        onChange={(event) => address.setSearch(event.target.value)}
      />
      <Chips fields={address.fields} filter={filter} set={set} />
      {offered.map((field) => (
        <AddFilter key={field.name} field={field} filter={filter} set={set} />
      ))}
    </>
  );
}

interface FilterProps {
  filter: FleetFilter;
  set(change: FleetFilter): void;
}

/** The active filters except the search, in the order of the fields. */
function Chips({ fields, filter, set }: FilterProps & { fields: readonly ListedField[] }) {
  const { t } = useTranslation('vms');
  const words = useFilterWords();
  const values: Readonly<Record<string, unknown>> = filter;
  return fields
    .filter(({ name }) => name !== 'q' && hasValue(values[name]))
    .map((field) => {
      if (field.name === 'tags' || field.name === 'notTags')
        return <TagChips key={field.name} name={field.name} filter={filter} set={set} />;
      // One chip shows a handler with its version.
      if (field.name === 'version' && filter.handler !== undefined) return null;
      const isHandler = field.name === 'handler';
      const { field: label, relation, value } = words(field, values[field.name]);
      const shown = isHandler ? [value, filter.version].filter(Boolean).join(' @ ') : value;
      return (
        <FilterChip
          key={field.name}
          field={label}
          relation={relation}
          value={shown}
          onRemove={() => set({ [field.name]: undefined, ...(isHandler && { version: undefined }) })}
          removeLabel={t('filter.remove', { filter: `${label} ${relation} ${shown}` })}
        />
      );
    });
}

function TagChips({ name, filter, set }: FilterProps & { name: 'tags' | 'notTags' }) {
  const { t } = useTranslation('vms');
  const tags = filter[name] ?? [];
  const relation = t(name === 'tags' ? 'filter.is' : 'filter.isNot');
  return tags.map((tag, index) => {
    const isAny = tag.value === undefined;
    const field = isAny ? t('filter.tag') : `${t('filter.tag')} ${tag.name}`;
    const value = isAny ? tag.name : tag.value || t('filter.emptyValue');
    return (
      <FilterChip
        // biome-ignore lint/suspicious/noArrayIndexKey: a tag can be given twice
        key={index}
        field={field}
        relation={relation}
        value={value}
        onRemove={() => set({ [name]: tags.filter((_, other) => other !== index) })}
        removeLabel={t('filter.remove', { filter: `${field} ${relation} ${value}` })}
      />
    );
  });
}

const hasValue = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0);

/** A button that adds a filter. Its menu is loaded when the pointer reaches the button. */
function AddFilter({ field, filter, set }: FilterProps & { field: ListedField }) {
  const { t } = useTranslation('vms');
  const [reached, setReached] = useState(false);
  const button = (
    <AddFilterButton
      onPointerEnter={() => void loadMenu().catch(() => {})}
      {...(reached ? {} : { onClick: () => setReached(true), 'aria-haspopup': 'dialog', 'aria-expanded': false })}
    >
      {t(field.label)}
    </AddFilterButton>
  );
  if (!reached) return button;
  return <FilterMenu field={field} filter={filter} onPick={set} onClose={() => setReached(false)} trigger={button} />;
}

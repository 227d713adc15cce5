'use client';

import dynamic from 'next/dynamic';
import { type ComponentType, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { AddFilterButton } from '#app/_ui/add-filter-button.tsx';
import { SearchInput } from '#app/_ui/input.tsx';
import type { ListedField } from '#server/domain/fleet/index.ts';
import type { FilterMenuProps } from './filter-menu.tsx';
import { type FilterProps, hasValue } from './filter-value.ts';
import type { FleetAddress } from './use-fleet-address.ts';

/** Loads the chips too, because a choice in the menu adds a chip. */
const loadMenu = async () => (await Promise.all([import('./filter-menu.tsx'), import('./filter-chips.tsx')]))[0];
const FilterMenu: ComponentType<FilterMenuProps> = dynamic(() => loadMenu().then((module) => module.FilterMenu), {
  ssr: false,
});

/** Loaded on demand. The server renders it, so nothing moves when its script loads. */
const FilterChips = dynamic(() => import('./filter-chips.tsx').then((module) => module.FilterChips));

/** The search field, the active filters, and buttons that add filters. */
export function FilterBar({ address }: { address: FleetAddress }) {
  const { t } = useTranslation('vms');
  const { filter } = address.query;
  return (
    <>
      <SearchInput
        label={t('search')}
        value={address.search}
        maxLength={200}
        onChange={(event) => address.setSearch(event.target.value)}
      />
      <FilterParts
        fields={address.fields}
        filter={filter}
        set={(change) => address.change({ filter: { ...filter, ...change } })}
      />
    </>
  );
}

/** The active filters except the search, and buttons that add filters. */
export function FilterParts({ fields, filter, set }: FilterProps & { fields: readonly ListedField[] }) {
  const values: Readonly<Record<string, unknown>> = filter;
  // The health of extensions is offered only once another filter is about extensions, because it often equals the VM's
  // health.
  const asksForExtension = ['handler', 'version', 'olderThan', 'messageId', 'cause'].some((name) =>
    hasValue(values[name]),
  );
  const offered = fields.filter(
    ({ name, find }) =>
      name === 'tags' || (find !== null && !hasValue(values[name]) && (name !== 'state' || asksForExtension)),
  );
  return (
    <>
      {Object.keys(filter).some((name) => name !== 'q' && hasValue(values[name])) ? (
        <FilterChips fields={fields} filter={filter} set={set} />
      ) : null}
      {offered.map((field) => (
        <AddFilter key={field.name} field={field} filter={filter} set={set} />
      ))}
    </>
  );
}

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

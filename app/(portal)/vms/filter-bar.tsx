'use client';

import dynamic from 'next/dynamic';
import { type ComponentType, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { AddFilterButton, FilterChip } from '#app/_ui/filter-chip.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SearchInput } from '#app/_ui/input.tsx';
import type { FleetFilter, ListedField } from '#server/domain/fleet/index.ts';
import type { FilterMenuProps } from './filter-menu.tsx';
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
  const offered = address.fields.filter(
    ({ name, value, find }) =>
      value.kind === 'tags' || ((find !== null || name === 'health') && !hasValue(values[name])),
  );
  return (
    <>
      <SearchInput
        label={t('search')}
        value={address.search}
        maxLength={200}
        onChange={(event) => address.setSearch(event.target.value)}
      />
      <Chips filter={filter} set={set} />
      <OtherChips fields={address.fields} filter={filter} set={set} />
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

function Chips({ filter, set }: FilterProps) {
  const { t } = useTranslation(['vms', 'reports']);
  const format = useFormat();
  const { health = [], tags = [], handler, version, messageId, silentMinutes, held = [] } = filter;
  const is = t('vms:filter.is');
  const chip = (id: string, field: string, value: string, remove: FleetFilter, relation = is) => (
    <FilterChip
      key={id}
      field={field}
      relation={relation}
      value={value}
      onRemove={() => set(remove)}
      removeLabel={t('vms:filter.remove', { filter: `${field} ${relation} ${value}` })}
    />
  );
  const words = health.map((one) => t(`reports:health.${one}`));
  return (
    <>
      {health.length === 0
        ? null
        : chip(
            'health',
            t('vms:filter.health'),
            words.join(', '),
            { health: [] },
            health.length > 1 ? t('vms:filter.isOneOf') : is,
          )}
      {tags.map((tag, index) => {
        const others = { tags: tags.filter((_, other) => other !== index) };
        const field = t('vms:filter.tag');
        return tag.value === undefined
          ? chip(`tag ${index}`, field, tag.name, others)
          : chip(
              `tag ${index}`,
              `${field} ${tag.name}`,
              tag.value === '' ? t('vms:filter.emptyValue') : tag.value,
              others,
            );
      })}
      {handler === undefined && version === undefined
        ? null
        : chip(
            'handler',
            handler === undefined ? t('vms:filter.version') : t('vms:filter.handler'),
            [handler, version].filter(Boolean).join(' @ '),
            { handler: undefined, version: undefined },
          )}
      {messageId === undefined ? null : chip('message', t('vms:filter.messageId'), messageId, { messageId: undefined })}
      {silentMinutes === undefined
        ? null
        : chip(
            'silent',
            t('vms:filter.silent'),
            format.number(silentMinutes, { style: 'unit', unit: 'minute', unitDisplay: 'short' }),
            { silentMinutes: undefined },
            t('vms:filter.over'),
          )}
      {held.length === 0
        ? null
        : chip('held', t('vms:filter.held'), held.map((one) => t(`vms:filter.held.${one}`)).join(', '), { held: [] })}
    </>
  );
}

const hasValue = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0);

/** Fields that the search field or `Chips` shows. */
const ownChips = ['q', 'health', 'tags', 'handler', 'version', 'messageId', 'silentMinutes', 'held'];

/** Filter chips for all other fields, including those that other modules add. */
function OtherChips({ fields, filter, set }: FilterProps & { fields: readonly ListedField[] }) {
  const { t } = useTranslation('vms');
  const values: Readonly<Record<string, unknown>> = filter;
  return fields
    .filter(({ name }) => !ownChips.includes(name) && hasValue(values[name]))
    .map(({ name, label }) => {
      const value = [values[name]].flat().join(', ');
      return (
        <FilterChip
          key={name}
          field={t(label)}
          relation={t('filter.is')}
          value={value}
          onRemove={() => set({ [name]: undefined })}
          removeLabel={t('filter.remove', { filter: `${t(label)} ${t('filter.is')} ${value}` })}
        />
      );
    });
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

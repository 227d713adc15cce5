'use client';

import dynamic from 'next/dynamic';
import { type ComponentType, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { AddFilterButton, FilterChip } from '#app/_ui/filter-chip.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SearchInput } from '#app/_ui/input.tsx';
import type { FleetFilterInput } from '#server/domain/views/input.ts';
import type { FilterMenuProps } from './filter-menu.tsx';
import type { FilterField } from './fleet-address.ts';
import type { FleetAddress } from './use-fleet-address.ts';

const fields: readonly FilterField[] = ['health', 'tag', 'handler', 'messageId'];

const loadMenu = () => import('./filter-menu.tsx');
const FilterMenu: ComponentType<FilterMenuProps> = dynamic(() => loadMenu().then((module) => module.FilterMenu), {
  ssr: false,
});

/** Search, the filters in use, and those that can be added. */
export function FilterBar({ address }: { address: FleetAddress }) {
  const { t } = useTranslation('vms');
  const { filter } = address.query;
  const set = (change: FleetFilterInput) => address.change({ filter: { ...filter, ...change } });
  const unused = fields.filter(
    (field) => field === 'tag' || (field === 'health' ? !filter.health?.length : filter[field] === undefined),
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
      {unused.map((field) => (
        <AddFilter key={field} field={field} filter={filter} set={set} />
      ))}
    </>
  );
}

interface FilterProps {
  filter: FleetFilterInput;
  set(change: FleetFilterInput): void;
}

function Chips({ filter, set }: FilterProps) {
  const { t } = useTranslation(['vms', 'reports']);
  const format = useFormat();
  const { health = [], tags = [], handler, version, messageId, silentMinutes } = filter;
  const is = t('vms:filter.is');
  const chip = (id: string, field: string, value: string, remove: FleetFilterInput, relation = is) => (
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
    </>
  );
}

/** A dashed button; its menu is fetched when somebody reaches for it. */
function AddFilter({ field, filter, set }: FilterProps & { field: FilterField }) {
  const { t } = useTranslation('vms');
  const [reached, setReached] = useState(false);
  const button = (
    <AddFilterButton
      onPointerEnter={() => void loadMenu().catch(() => {})}
      {...(reached ? {} : { onClick: () => setReached(true), 'aria-haspopup': 'dialog', 'aria-expanded': false })}
    >
      {t(`filter.${field}`)}
    </AddFilterButton>
  );
  if (!reached) return button;
  return <FilterMenu field={field} filter={filter} onPick={set} onClose={() => setReached(false)} trigger={button} />;
}

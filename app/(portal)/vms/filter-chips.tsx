'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { FilterChip } from '#app/_ui/filter-chip.tsx';
import type { ListedField } from '#server/domain/fleet/index.ts';
import { type FilterProps, hasValue } from './filter-value.ts';
import { useFilterWords } from './use-filter-words.ts';

/** The active filters except the search, in the order of the fields. */
export function FilterChips({ fields, filter, set }: FilterProps & { fields: readonly ListedField[] }) {
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

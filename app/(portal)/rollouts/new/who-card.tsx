'use client';

import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { vmsAddress } from '#app/_lib/vms-address.ts';
import { useFormat } from '#app/_ui/format.ts';
import { SearchInput } from '#app/_ui/input.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { ListedField } from '#server/domain/fleet/index.ts';
import { FilterParts } from '../../vms/filter-bar.tsx';
import { isFiltered, withoutGaps } from '../../vms/fleet-address.ts';
import type { FormFaults } from './faults.ts';
import { PartCard } from './part-card.tsx';
import type { RolloutForm } from './rollout-form.ts';
import { SampleTable } from './sample-table.tsx';
import { type LoadedMatches, useMatches } from './use-matches.ts';

export interface WhoCardProps {
  form: RolloutForm;
  set(change: Partial<RolloutForm>): void;
  fields: readonly ListedField[];
  faults: FormFaults;
  /** VMs that the plan says are selected; undefined until a plan of this form exists. */
  selected: number | undefined;
  loaded: LoadedMatches | null;
}

/** Who: the selection as filters of the VM list, with its number of VMs and a sample. */
export function WhoCard({ form, set, fields, faults, selected, loaded }: WhoCardProps) {
  const { t } = useTranslation('rollouts');
  const { target, include, exclude } = form;
  const isList = target === 'ids';
  return (
    <PartCard
      part="who"
      title={t('new.who')}
      faults={faults.below('/select')}
      actions={
        isList ? undefined : (
          <Segmented
            label={t('new.who.target')}
            value={target}
            onChange={(value) => set({ target: value })}
            options={[
              { value: 'filter', label: t('new.who.matching') },
              { value: 'all', label: t('new.who.all') },
            ]}
          />
        )
      }
    >
      {isList ? <p>{t('new.who.ids', { count: form.ids.length })}</p> : null}
      {target === 'filter' ? (
        <FilterRow label={t('new.who.where')}>
          <IncludeSearch value={include.q ?? ''} onChange={(q) => set({ include: withoutGaps({ ...include, q }) })} />
          <FilterParts
            fields={fields}
            filter={include}
            set={(change) => set({ include: withoutGaps({ ...include, ...change }) })}
          />
        </FilterRow>
      ) : null}
      {isList ? null : (
        <FilterRow label={t('new.who.except')}>
          <FilterParts
            fields={fields.filter(({ name }) => isFiltered(exclude) || name === 'tags' || name === 'handler')}
            filter={exclude}
            set={(change) => set({ exclude: withoutGaps({ ...exclude, ...change }) })}
          />
        </FilterRow>
      )}
      {isList || (target === 'filter' && !isFiltered(include)) ? null : (
        <Matches form={form} selected={selected} loaded={loaded} />
      )}
    </PartCard>
  );
}

function FilterRow({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: the items of a fieldset cannot wrap with other items
    <div role="group" aria-label={label} className="flex flex-wrap items-center gap-2">
      <span className="min-w-20 text-12 font-medium">{label}</span>
      {children}
    </div>
  );
}

function IncludeSearch({ value, onChange }: { value: string; onChange(value: string): void }) {
  const { t } = useTranslation('vms');
  return (
    <SearchInput
      label={t('search')}
      value={value}
      maxLength={200}
      className="w-44"
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

type MatchesProps = Pick<WhoCardProps, 'form' | 'selected' | 'loaded'>;

/** The number of VMs that match, and the first of them. */
function Matches({ form, selected, loaded }: MatchesProps) {
  const filter = form.target === 'all' ? {} : form.include;
  const excludes = isFiltered(form.exclude);
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const list = useMatches(form, loaded);
  if (list.error && !list.data) {
    return <QueryError error={list.error} onRetry={list.refetch} at={new Date(list.errorUpdatedAt)} />;
  }
  const matching = list.data?.matching;
  const number = selected ?? matching;
  return (
    <>
      <div className="flex flex-wrap items-baseline gap-x-2" role="status">
        <strong className="text-16 font-semibold tabular-nums">
          {number === undefined ? '…' : t('new.vms', { count: number, n: format.number(number) })}
        </strong>
        {matching !== undefined && selected !== undefined && matching !== selected ? (
          <span className="text-12 text-ink-2 tabular-nums">
            {t('new.who.excluded', { matching: format.number(matching), excluded: format.number(matching - selected) })}
          </span>
        ) : excludes && selected === undefined ? (
          <span className="text-12 text-ink-2">{t('new.who.beforeExcluded')}</span>
        ) : null}
        <TextLink href={vmsAddress(filter)} className="ms-auto text-12">
          {t('new.who.open')}
        </TextLink>
      </div>
      <SampleTable rows={list.data?.items} total={matching ?? 0} isAll={form.target === 'all'} />
    </>
  );
}

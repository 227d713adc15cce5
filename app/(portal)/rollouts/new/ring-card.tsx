'use client';

import { Trash2 } from 'lucide-react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ControlRow, FieldError } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import type { ListedField } from '#server/domain/fleet/index.ts';
import { FilterParts } from '../../vms/filter-bar.tsx';
import { FilterChips } from '../../vms/filter-chips.tsx';
import { isFiltered, withoutGaps } from '../../vms/fleet-address.ts';
import type { LimitInput, SentRing } from './definition.ts';
import type { FormFaults } from './faults.ts';
import { InlineNumber } from './inline-number.tsx';

export interface RingCardProps {
  ring: SentRing;
  index: number;
  isLast: boolean;
  /** VMs of the ring; null where only the plan knows. */
  size: number | null;
  total: number | null;
  fields: readonly ListedField[];
  faults: FormFaults;
  /** Whether parts are fixed because the rollout has started. */
  isFilterFixed: boolean;
  isReachFixed: boolean;
  isApprovalFixed: boolean;
  onChange(ring: SentRing): void;
  /** Undefined for the only ring. */
  onRemove: (() => void) | undefined;
}

/** One ring: its name, how far it reaches, and who must approve it. */
export function RingCard({ ring, index, isLast, size, total, fields, faults, onChange, ...rest }: RingCardProps) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const path = `/rings/${index}`;
  const own = faults.below(path).filter((fault) => !/\/(windows|gates)(\/|$)/.test(fault.path));
  const { onRemove, isFilterFixed, isReachFixed, isApprovalFixed } = rest;
  const isShare = size !== null && total !== null && total > 0;
  return (
    <fieldset className="grid min-w-0 content-start gap-2 rounded-md bg-sunken p-3 shadow-hair-subtle">
      <legend translate="no" className="sr-only">
        {ring.name}
      </legend>
      <div className="flex items-center gap-1.5">
        <Input
          aria-label={t('new.ring.name')}
          value={ring.name}
          maxLength={40}
          aria-invalid={faults.at(`${path}/name`) === undefined ? undefined : true}
          onChange={(event) => onChange({ ...ring, name: event.target.value })}
        />
        {onRemove === undefined ? null : (
          <IconButton size="sm" label={t('new.ring.remove', { name: ring.name })} onClick={onRemove}>
            <Trash2 aria-hidden />
          </IconButton>
        )}
      </div>
      <p className="flex flex-wrap items-baseline gap-x-2 tabular-nums">
        <strong className="text-14 font-semibold">
          {size === null ? t('new.ring.unknown') : t('new.vms', { count: size, n: format.number(size) })}
        </strong>
        {isShare ? <span className="text-12 text-ink-3">{format.percent(size / total)}</span> : null}
      </p>
      <Reach ring={ring} isLast={isLast} isFixed={isReachFixed} onChange={onChange} />
      {isLast ? null : <RingFilter ring={ring} fields={fields} isFixed={isFilterFixed} onChange={onChange} />}
      <ControlRow
        control={
          <Checkbox
            disabled={isApprovalFixed}
            checked={ring.approval ?? false}
            onCheckedChange={(checked) => onChange({ ...ring, approval: checked === true })}
          />
        }
      >
        {t('new.ring.approval')}
      </ControlRow>
      <div aria-live="polite" className="grid gap-1 empty:hidden">
        {own.map((fault) => (
          <FieldError key={fault.path + fault.code}>{fault.message}</FieldError>
        ))}
      </div>
    </fieldset>
  );
}

type RingFilterProps = Pick<RingCardProps, 'ring' | 'fields' | 'onChange'> & { isFixed: boolean };

/** The filter of a ring. Only VMs that match it belong to the ring. */
function RingFilter({ ring, fields, isFixed, onChange }: RingFilterProps) {
  const { t } = useTranslation('rollouts');
  const isSet = ring.filter != null && isFiltered(ring.filter);
  const filter = ring.filter ?? {};
  const set = (change: typeof filter) => onChange(withFilter(ring, withoutGaps({ ...filter, ...change })));
  if (isFixed && !isSet) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: the items of a fieldset cannot wrap with other items
    <div role="group" aria-label={t('new.ring.filter')} className="flex flex-wrap items-center gap-1.5">
      {isSet ? <span className="text-12 text-ink-2">{t('new.ring.filter')}</span> : null}
      {isFixed ? (
        <fieldset disabled className="contents">
          <FilterChips fields={fields} filter={filter} set={set} />
        </fieldset>
      ) : (
        <FilterParts fields={fields.filter(({ name }) => name === 'tags' || isSet)} filter={filter} set={set} />
      )}
    </div>
  );
}

/** A ring without a filter needs a boundary. */
function withFilter({ filter: _, ...ring }: SentRing, filter: NonNullable<SentRing['filter']>): SentRing {
  if (isFiltered(filter)) return { ...ring, filter };
  return { ...ring, upTo: ring.upTo ?? { percent: 10 } };
}

interface ReachProps {
  ring: SentRing;
  isLast: boolean;
  isFixed: boolean;
  onChange(ring: SentRing): void;
}

/** How far the ring reaches: up to a share of all VMs, up to a number, or all that match its filter. */
function Reach({ ring, isLast, isFixed, onChange }: ReachProps) {
  const { t } = useTranslation('rollouts');
  const { upTo } = ring;
  const kind = upTo == null ? 'all' : 'percent' in upTo ? 'percent' : 'count';
  const value = upTo == null ? 0 : 'percent' in upTo ? upTo.percent : upTo.count;
  const put = (next: LimitInput | null) => onChange({ ...ring, upTo: next });
  if (isLast) return <p className="text-12 text-ink-2">{t('new.ring.rest')}</p>;
  if (isFixed) return kind === 'all' ? null : <FixedReach isShare={kind === 'percent'} value={value} />;
  const choices =
    ring.filter && isFiltered(ring.filter) ? (['percent', 'count', 'all'] as const) : (['percent', 'count'] as const);
  return (
    <div className="flex flex-wrap items-center gap-2 text-12 text-ink-2">
      <span className="w-44 max-sm:w-full">
        <Select
          aria-label={t('new.ring.reach')}
          value={kind}
          onChange={({ target }) =>
            put(target.value === 'all' ? null : target.value === 'count' ? { count: 10 } : { percent: 10 })
          }
          options={choices.map((choice) => ({ value: choice, label: t(`new.ring.upTo.${choice}`) }))}
        />
      </span>
      {kind === 'all' ? null : (
        <span>
          <Trans
            text={t(kind === 'percent' ? 'new.ring.percent' : 'new.ring.count')}
            tags={{
              value: (
                <InlineNumber
                  label={t('new.ring.limit', { name: ring.name })}
                  value={value}
                  onChange={(next) => put(kind === 'percent' ? { percent: next } : { count: next })}
                />
              ),
            }}
          />
        </span>
      )}
    </div>
  );
}

/** How far a ring with a fixed boundary reaches. */
function FixedReach({ isShare, value }: { isShare: boolean; value: number }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  return (
    <p className="text-12 text-ink-2 tabular-nums">
      <Trans
        text={t(isShare ? 'new.ring.percent' : 'new.ring.count')}
        tags={{ value: <span>{format.number(value)}</span> }}
      />
    </p>
  );
}

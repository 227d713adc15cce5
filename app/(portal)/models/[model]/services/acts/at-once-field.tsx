'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { serviceLimits } from '#server/domain/services/input.ts';

/** How many units may change at the same time: `one`, `some` with a number as typed, or `all`. */
export interface WaveSize {
  mode: 'one' | 'some' | 'all';
  count: string;
}

/** Returns the size that a service has; null means all. */
export const waveSizeOf = (atOnce: number | null): WaveSize => ({
  mode: atOnce === null ? 'all' : atOnce === 1 ? 'one' : 'some',
  count: String(Math.max(2, atOnce ?? 2)),
});

/** Returns the size as a request names it. */
export const requestedSize = ({ mode, count }: WaveSize): { atOnce: number | 'all' } => ({
  atOnce: mode === 'all' ? 'all' : mode === 'one' ? 1 : Number(count),
});

/** Chooses how many units may change at the same time. */
export function WaveField({ value, onChange }: { value: WaveSize; onChange(value: WaveSize): void }) {
  const { t } = useTranslation('services');
  return (
    <div
      className={cn(
        'grid grid-cols-[minmax(0,1fr)] gap-3',
        value.mode === 'some' && 'sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]',
      )}
    >
      <Field label={t('wave.title')} hint={t(`wave.${value.mode}.why`)}>
        <Select
          value={value.mode}
          onChange={(event) => onChange({ ...value, mode: event.target.value as WaveSize['mode'] })}
          options={(['one', 'some', 'all'] as const).map((mode) => ({ value: mode, label: t(`wave.${mode}`) }))}
        />
      </Field>
      {value.mode === 'some' ? (
        <Field label={t('column.units')}>
          <Input
            type="number"
            required
            min={2}
            max={serviceLimits.units}
            step={1}
            value={value.count}
            onChange={(event) => onChange({ ...value, count: event.target.value })}
          />
        </Field>
      ) : null}
    </div>
  );
}

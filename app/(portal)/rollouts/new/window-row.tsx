'use client';

import { Trash2 } from 'lucide-react';
import { useId } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ProblemFault } from '#app/_lib/problem.ts';
import { IconButton } from '#app/_ui/button.tsx';
import { useDateLocale } from '#app/_ui/clock.ts';
import { cn } from '#app/_ui/cn.ts';
import { FieldError } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { days, type PlacedWindow } from './windows.ts';

export interface WindowRowProps {
  placed: PlacedWindow;
  rings: readonly string[];
  faults: readonly ProblemFault[];
  onChange(placed: PlacedWindow): void;
  onRemove(): void;
}

/** One maintenance window: its days, its times and their time zone, and the ring that it belongs to. */
export function WindowRow({ placed, rings, faults, onChange, onRemove }: WindowRowProps) {
  const { t } = useTranslation('rollouts');
  const { window } = placed;
  const zones = useId();
  const put = (change: Partial<typeof window>) => onChange({ ...placed, window: { ...window, ...change } });
  return (
    <div className="grid gap-1">
      <div className="flex flex-wrap items-center gap-2">
        <Days chosen={window.days} onChange={(next) => put({ days: next })} />
        <Input
          type="time"
          aria-label={t('new.window.from')}
          className="w-28"
          value={window.from}
          onChange={(event) => put({ from: event.target.value })}
        />
        <span aria-hidden>–</span>
        <Input
          type="time"
          aria-label={t('new.window.to')}
          className="w-28"
          value={window.to}
          onChange={(event) => put({ to: event.target.value })}
        />
        <Input
          list={zones}
          aria-label={t('new.window.zone')}
          className="w-48"
          value={window.timeZone}
          onChange={(event) => put({ timeZone: event.target.value })}
        />
        <datalist id={zones}>
          {Intl.supportedValuesOf('timeZone').map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
        <Select
          aria-label={t('new.window.ring')}
          className="w-44"
          value={placed.ring === null ? '' : String(placed.ring)}
          onChange={({ target }) => onChange({ ...placed, ring: target.value === '' ? null : Number(target.value) })}
          options={[
            { value: '', label: t('new.window.everyRing') },
            ...rings.map((name, index) => ({ value: String(index), label: name, isName: true })),
          ]}
        />
        <IconButton size="sm" label={t('new.window.remove')} onClick={onRemove}>
          <Trash2 aria-hidden />
        </IconButton>
      </div>
      {window.to < window.from ? <p className="text-12 text-ink-3">{t('new.window.nextDay')}</p> : null}
      {faults.map((fault) => (
        <FieldError key={fault.path + fault.code}>{fault.message}</FieldError>
      ))}
    </div>
  );
}

/** A Monday, to name the days of the week. */
const monday = Date.UTC(2024, 0, 1);

function Days({ chosen, onChange }: { chosen: readonly string[]; onChange(days: string[]): void }) {
  const { t, i18n } = useTranslation('rollouts');
  const locale = useDateLocale(i18n.language);
  const name = (index: number, weekday: 'short' | 'long') =>
    new Intl.DateTimeFormat(locale, { weekday, timeZone: 'UTC' }).format(monday + index * 86_400_000);
  return (
    // biome-ignore lint/a11y/useSemanticElements: the days are on one line with other fields
    <div role="group" aria-label={t('new.window.days')} className="inline-flex gap-0.5">
      {days.map((day, index) => (
        <label
          key={day}
          className={cn(
            'relative grid h-7 min-w-8 place-items-center rounded-sm px-1 text-12 shadow-hair has-focus-visible:shadow-focus pointer-coarse:h-10',
            chosen.includes(day) ? 'bg-brand text-on-brand' : 'bg-surface text-ink-2',
          )}
        >
          <input
            type="checkbox"
            aria-label={name(index, 'long')}
            checked={chosen.includes(day)}
            onChange={({ target }) =>
              onChange(days.filter((one) => (one === day ? target.checked : chosen.includes(one))))
            }
            className="absolute inset-0 size-full cursor-pointer appearance-none opacity-0"
          />
          {name(index, 'short')}
        </label>
      ))}
    </div>
  );
}

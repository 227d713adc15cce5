'use client';

import { Plus } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { localTime } from '#app/_lib/local-time.ts';
import { Button } from '#app/_ui/button.tsx';
import { useTimeZone } from '#app/_ui/clock.ts';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import type { FormFaults } from './faults.ts';
import { PartCard } from './part-card.tsx';
import type { RolloutForm } from './rollout-form.ts';
import { WindowPicture } from './window-picture.tsx';
import { WindowRow } from './window-row.tsx';
import { type PlacedWindow, windowsIn, withWindows } from './windows.ts';

export interface WhenCardProps {
  form: RolloutForm;
  set(change: Partial<RolloutForm>): void;
  faults: FormFaults;
  /** Whether the rollout has started, so that its start cannot change. */
  isStarted?: boolean;
}

const dayMs = 86_400_000;

/** When: the start, and the windows in which steps may begin. */
export function WhenCard({ form, set, faults, isStarted = false }: WhenCardProps) {
  const { t } = useTranslation('rollouts');
  const timeZone = useTimeZone();
  const windows = windowsIn(form);
  const put = (next: readonly PlacedWindow[]) => set(withWindows(form, next));
  const add = () =>
    put([
      ...windows,
      { ring: null, window: { days: ['mon', 'tue', 'wed', 'thu'], from: '22:00', to: '04:00', timeZone } },
    ]);
  return (
    <PartCard
      part="when"
      title={t('new.when')}
      actions={
        <>
          {isStarted ? null : (
            <Segmented
              label={t('new.when.start')}
              value={form.startAt === '' ? 'now' : 'at'}
              onChange={(value) => set({ startAt: value === 'now' ? '' : localTime(new Date(Date.now() + dayMs)) })}
              options={[
                { value: 'now', label: t('new.when.now') },
                { value: 'at', label: t('new.when.at') },
              ]}
            />
          )}
          <Button size="sm" onClick={add}>
            <Plus aria-hidden />
            {t('new.window.add')}
          </Button>
        </>
      }
      faults={faults.below('/windows').filter(({ path }) => !/^\/windows\/\d/.test(path))}
    >
      {form.startAt === '' || isStarted ? null : (
        <Field label={t('new.when.at')} error={faults.at('/startAt')} className="max-w-60">
          <Input
            type="datetime-local"
            value={form.startAt}
            onChange={(event) => set({ startAt: event.target.value })}
          />
        </Field>
      )}
      {windows.length === 0 ? <p className="text-ink-2">{t('new.window.none')}</p> : null}
      {windows.map((placed, index) => (
        <WindowRow
          // biome-ignore lint/suspicious/noArrayIndexKey: windows have no id
          key={index}
          placed={placed}
          rings={form.rings.map(({ name }) => name)}
          faults={faults.below(pathOf(windows, index))}
          onChange={(next) => put(windows.map((other, at) => (at === index ? next : other)))}
          onRemove={() => put(windows.filter((_, at) => at !== index))}
        />
      ))}
      {windows.length === 0 ? null : <WindowPicture rings={form.rings.map(({ name }) => name)} windows={windows} />}
    </PartCard>
  );
}

/** Returns where the definition has a window. */
function pathOf(windows: readonly PlacedWindow[], index: number): string {
  const ring = windows[index]?.ring ?? null;
  const before = windows.slice(0, index).filter((other) => other.ring === ring).length;
  return ring === null ? `/windows/${before}` : `/rings/${ring}/windows/${before}`;
}

'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useDateLocale, useTimeZone } from '#app/_ui/clock.ts';
import { useFormat } from '#app/_ui/format.ts';
import type { Window } from '#server/domain/rollout-rules/stored.ts';
import type { Occurrence } from '#server/domain/rollout-rules/windows.ts';
import { spansOf } from './window-spans.ts';
import { days } from './windows.ts';

/** A Monday, to name the days of the week. */
const monday = Date.UTC(2024, 0, 1);

export interface WindowWords {
  /** The days and times of a window in its time zone. */
  own(window: Window): string;
  /** Its times for the reader; null if the reader has the same time zone. */
  yours(window: Window, occurrences: readonly Occurrence[]): string | null;
  /** What clock changes do to its occurrences. */
  changed(each: { window: Window; occurrences: readonly Occurrence[] }): string[];
  /** A moment in a time zone. */
  moment(at: number, timeZone: string): string;
}

/** Returns functions that describe windows. */
export function useWindowWords(): WindowWords {
  const { t, i18n } = useTranslation('rollouts');
  const format = useFormat();
  const locale = useDateLocale(i18n.language);
  const timeZone = useTimeZone();
  const show = (at: number | Date, zone: string, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone: zone }).format(at);
  const weekday = (day: string) =>
    show(monday + (days as readonly string[]).indexOf(day) * 86_400_000, 'UTC', { weekday: 'short' });
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const date = { weekday: 'short', day: 'numeric', month: 'short' } as const;
  return {
    own: ({ days: own, from, to, timeZone: zone }) =>
      t('new.calendar.window', { days: format.list(own.map(weekday)), from, to, zone }),
    yours(window, occurrences) {
      if (occurrences.every(({ clocks }) => clocks === 'none')) return t('new.calendar.never');
      if (window.timeZone === timeZone) return null;
      const spans = spansOf(
        occurrences,
        ({ from, to }) => `${show(from, timeZone, clock)}–${show(to, timeZone, clock)}`,
      );
      const texts = spans.map(({ span, from }, index) =>
        index === 0 ? span : t('new.calendar.later', { span, day: show(from, timeZone, date) }),
      );
      return t('new.calendar.yours', { spans: format.list(texts) });
    },
    changed: ({ window: { timeZone: zone }, occurrences }) =>
      occurrences.flatMap(({ clocks, from, to, day }) =>
        clocks === null
          ? []
          : t(`new.calendar.${clocks}`, {
              day: clocks === 'none' ? show(Date.parse(day), 'UTC', date) : show(from, zone, date),
              minutes: format.number(Math.round((to.getTime() - from.getTime()) / 60_000)),
            }),
      ),
    moment: (at, zone) => show(at, zone, { ...date, ...clock }),
  };
}

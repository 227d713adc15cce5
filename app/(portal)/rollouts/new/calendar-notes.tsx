'use client';

import { CalendarOff, Clock } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { Calendar } from './calendar.ts';
import { useWindowWords } from './use-window-words.ts';

export interface CalendarNotesProps {
  calendar: Calendar;
  freezes: readonly { from: string; to: string; reason: string }[];
}

/** What the picture of the windows cannot say: clock changes, what they do to windows, and freezes. */
export function CalendarNotes({ calendar: { rows, clocks }, freezes }: CalendarNotesProps) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const words = useWindowWords();
  const changed = rows.flatMap(({ windows }) => windows ?? []).flatMap((each) => words.changed(each));
  return (
    <ul className="mt-3 grid gap-1 text-12 text-ink-2 empty:hidden">
      {clocks.map(({ timeZone, at, minutes }) => (
        <li key={timeZone + at} className="flex gap-1.5">
          <Clock aria-hidden className="mt-0.5 size-3.5 shrink-0 text-warning-text" />
          {t(minutes > 0 ? 'new.calendar.forward' : 'new.calendar.back', {
            zone: timeZone,
            minutes: format.number(Math.abs(minutes)),
            at: words.moment(at, timeZone),
          })}
        </li>
      ))}
      {[...new Set(changed)].map((text) => (
        <li key={text} className="ps-5">
          {text}
        </li>
      ))}
      {freezes.map(({ from, to, reason }) => (
        <li key={from} className="flex gap-1.5">
          <CalendarOff aria-hidden className="mt-0.5 size-3.5 shrink-0 text-warning-text" />
          <span className="min-w-0 wrap-anywhere">
            {t('new.calendar.freeze', {
              from: format.dateTime(new Date(from), 'short'),
              to: format.dateTime(new Date(to), 'short'),
              reason,
            })}
          </span>
        </li>
      ))}
    </ul>
  );
}

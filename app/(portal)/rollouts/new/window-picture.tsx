'use client';

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useDateLocale, useTicking, useTimeZone } from '#app/_ui/clock.ts';
import { useFormat } from '#app/_ui/format.ts';
import { type Calendar, type CalendarRow, calendarOf } from './calendar.ts';
import { CalendarNotes } from './calendar-notes.tsx';
import { useWindowWords } from './use-window-words.ts';
import type { PlacedWindow } from './windows.ts';

export interface WindowPictureProps {
  rings: readonly string[];
  windows: readonly PlacedWindow[];
}

const minuteMs = 60_000;
const freezeColor = 'var(--warning-solid)';

/** The windows of each ring in the next days, in their time zone and in the reader's, with freezes and clock changes. */
export function WindowPicture({ rings, windows }: WindowPictureProps) {
  const { t } = useTranslation('rollouts');
  const trpc = useTRPC();
  const timeZone = useTimeZone();
  const now = Number(useTicking((time) => String(Math.floor(time / minuteMs) * minuteMs)));
  const rules = useQuery({ ...trpc.rolloutRules.get.queryOptions(), staleTime: minuteMs });
  const calendar = calendarOf(rings, windows, { now, timeZone });
  const freezes = (rules.data?.freezes ?? []).filter(
    ({ from, to }) => Date.parse(to) > calendar.from && Date.parse(from) < calendar.until,
  );
  return (
    <section aria-label={t('new.calendar', { zone: timeZone })} className="border-t border-line-subtle pt-3">
      <div className="grid gap-x-4 gap-y-2.5 sm:grid-cols-[13rem_minmax(0,1fr)]">
        <h3 className="text-12 text-ink-3">{t('new.calendar', { zone: timeZone })}</h3>
        <DayNames days={calendar.days} timeZone={timeZone} />
        {calendar.rows.map((row) => (
          <Row key={row.rings.join()} {...{ row, calendar, now, freezes }} />
        ))}
      </div>
      <CalendarNotes calendar={calendar} freezes={freezes} />
    </section>
  );
}

function DayNames({ days, timeZone }: { days: readonly number[]; timeZone: string }) {
  const { i18n } = useTranslation();
  const locale = useDateLocale(i18n.language);
  const name = (day: number, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone }).format(day);
  return (
    <ol aria-hidden className="grid grid-cols-14 self-end text-11 text-ink-3 tabular-nums max-sm:mt-1">
      {days.map((day) => (
        <li key={day} className="min-w-0 border-s border-line-subtle ps-1 leading-tight">
          <span className="block truncate">{name(day, { weekday: 'short' })}</span>
          {name(day, { day: 'numeric' })}
        </li>
      ))}
    </ol>
  );
}

interface RowProps {
  row: CalendarRow;
  calendar: Calendar;
  now: number;
  freezes: readonly { from: string; to: string }[];
}

function Row({ row: { rings, windows }, calendar, now, freezes }: RowProps) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const words = useWindowWords();
  const { from, until, days, clocks } = calendar;
  const width = 1_400;
  const x = (time: number) => ((Math.min(Math.max(time, from), until) - from) / (until - from)) * width;
  const bar = (begin: number, end: number) => ({ x: x(begin), width: Math.max(2, x(end) - x(begin)) });
  const bars =
    windows === null
      ? [bar(now, until)]
      : windows.flatMap(({ occurrences }) =>
          occurrences.filter(({ clocks }) => clocks !== 'none').map((one) => bar(one.from.getTime(), one.to.getTime())),
        );
  return (
    <>
      <div className="min-w-0 text-12">
        <p translate="no" className="font-medium wrap-anywhere">
          {format.list(rings)}
        </p>
        {windows === null ? <p className="text-ink-3">{t('new.calendar.any')}</p> : null}
        {windows?.map(({ window, occurrences }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: windows can be equal
          <p key={index} className="text-ink-3 wrap-anywhere">
            {words.own(window)}
            <span className="block text-ink-2">{words.yours(window, occurrences)}</span>
          </p>
        ))}
      </div>
      <svg
        aria-hidden
        viewBox={`0 0 ${width} 40`}
        preserveAspectRatio="none"
        className="h-10 w-full rounded-sm bg-sunken rtl:-scale-x-100"
      >
        {days.slice(1).map((day) => (
          <path key={day} d={`M${x(day)} 0V40`} stroke="var(--line-subtle)" vectorEffect="non-scaling-stroke" />
        ))}
        {bars.map((one, index) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: windows can be equal
            key={index}
            {...one}
            y={11}
            height={18}
            fill="var(--series-1)"
            fillOpacity={windows === null ? 0.25 : 1}
          />
        ))}
        {freezes.map((freeze) => (
          <rect
            key={freeze.from}
            {...bar(Date.parse(freeze.from), Date.parse(freeze.to))}
            y={0}
            height={40}
            fill={freezeColor}
            fillOpacity={0.3}
          />
        ))}
        {clocks.map(({ at, timeZone }) => (
          <path
            key={timeZone + at}
            d={`M${x(at)} 0V40`}
            stroke="var(--warning-solid)"
            strokeWidth={1.5}
            strokeDasharray="3 3"
            vectorEffect="non-scaling-stroke"
          />
        ))}
        <path d={`M${x(now)} 0V40`} stroke="var(--ink)" strokeWidth={1.5} vectorEffect="non-scaling-stroke" />
      </svg>
    </>
  );
}

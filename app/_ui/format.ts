'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { formatByteSize } from '#protocol/byte-size.ts';
import { useDateLocale, useTimeZone } from './clock.ts';

export type DateStyle = 'clock' | 'time' | 'day' | 'date' | 'short' | 'exact';

const styles: Readonly<Record<DateStyle, Intl.DateTimeFormatOptions>> = {
  clock: { hour: '2-digit', minute: '2-digit' },
  time: { hour: '2-digit', minute: '2-digit', second: '2-digit' },
  day: { day: 'numeric', month: 'short' },
  date: { day: 'numeric', month: 'short', year: 'numeric' },
  short: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  exact: { dateStyle: 'full', timeStyle: 'long' },
};

/** Beyond this many milliseconds from now, a date without its year could be in either of two years. */
const yearNeededMs = 180 * 24 * 3_600_000;

export interface Format {
  number(value: number, options?: Intl.NumberFormatOptions): string;
  /** Formats a share between 0 and 1: 0.338 → "34%". */
  percent(share: number): string;
  /** Formats a size in steps of 1,024: 1536 → "1.5 KiB". */
  bytes(count: number): string;
  /** Formats a time. `day` and `short` include the year only if the time is more than half a year from now. */
  dateTime(value: Date, style: DateStyle): string;
  list(items: readonly string[]): string;
}

/** Formats numbers, dates and lists for the reader's language. Texts come from `useTranslation`. */
export function useFormat(): Format {
  const { i18n } = useTranslation();
  const timeZone = useTimeZone();
  return formatOf(i18n.language, timeZone, useDateLocale(i18n.language));
}

const formats = new Map<string, Format>();
/** Maximum number of cached formatters, since a server formats for readers in many time zones. */
const maxFormats = 100;

/** Returns a cached formatter if possible, because creating one costs more than rendering a table row. */
function formatOf(language: string, timeZone: string, dateLocale: string): Format {
  const key = `${language} ${timeZone} ${dateLocale}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  if (formats.size >= maxFormats) formats.clear();
  const format = createFormat(language, timeZone, dateLocale);
  formats.set(key, format);
  return format;
}

/** `dateLocale` is the locale for dates, such as `en-GB`. */
export function createFormat(language: string, timeZone: string, dateLocale = language): Format {
  const dates = new Map<string, Intl.DateTimeFormat>();
  const plain = new Intl.NumberFormat(language);
  return {
    number: (value, options) =>
      options === undefined ? plain.format(value) : new Intl.NumberFormat(language, options).format(value),
    percent: (share) =>
      new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: share < 0.1 ? 1 : 0 }).format(share),
    bytes: (count) => formatByteSize(language, count).replace(' ', '\u00a0'),
    dateTime: (value, style) => {
      const isFar = Math.abs(value.getTime() - Date.now()) > yearNeededMs;
      const year = isFar && (style === 'day' || style === 'short') ? ({ year: 'numeric' } as const) : {};
      const key = `${style} ${isFar}`;
      let formatter = dates.get(key);
      if (formatter === undefined) {
        formatter = new Intl.DateTimeFormat(dateLocale, {
          ...styles[style],
          ...year,
          timeZone,
          ...(style === 'exact' ? {} : { hourCycle: 'h23' }),
        });
        dates.set(key, formatter);
      }
      return formatter.format(value);
    },
    list: (items) => new Intl.ListFormat(language).format(items),
  };
}

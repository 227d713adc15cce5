'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTimeZone } from './clock.ts';

export type DateStyle = 'clock' | 'time' | 'day' | 'date' | 'short' | 'exact';

const styles: Readonly<Record<DateStyle, Intl.DateTimeFormatOptions>> = {
  clock: { hour: '2-digit', minute: '2-digit' },
  time: { hour: '2-digit', minute: '2-digit', second: '2-digit' },
  day: { day: 'numeric', month: 'short' },
  date: { day: 'numeric', month: 'short', year: 'numeric' },
  short: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  exact: { dateStyle: 'full', timeStyle: 'long' },
};

export interface Format {
  number(value: number, options?: Intl.NumberFormatOptions): string;
  /** A share of one: 0.338 → "33.8 %". */
  percent(share: number): string;
  /** 1536 → "1.5 kB" (steps of 1000). */
  bytes(count: number): string;
  dateTime(value: Date, style: DateStyle): string;
  list(items: readonly string[]): string;
}

/** Numbers, dates and lists as the reader's language writes them. Words come from `useTranslation`. */
export function useFormat(): Format {
  const { i18n } = useTranslation();
  const timeZone = useTimeZone();
  return formatOf(i18n.language, timeZone);
}

const formats = new Map<string, Format>();
/** A server meets readers of many zones. */
const mostFormats = 100;

/** One for each language and zone: what it is made of costs more than a row of a table. */
function formatOf(language: string, timeZone: string): Format {
  const key = `${language} ${timeZone}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  if (formats.size >= mostFormats) formats.clear();
  const format = makeFormat(language, timeZone);
  formats.set(key, format);
  return format;
}

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

function makeFormat(language: string, timeZone: string): Format {
  const dates = new Map<DateStyle, Intl.DateTimeFormat>();
  const plain = new Intl.NumberFormat(language);
  return {
    number: (value, options) =>
      options === undefined ? plain.format(value) : new Intl.NumberFormat(language, options).format(value),
    percent: (share) =>
      new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: share < 0.1 ? 1 : 0 }).format(share),
    bytes: (count) => {
      const step = count < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3));
      return new Intl.NumberFormat(language, {
        style: 'unit',
        unit: units[step] ?? 'byte',
        // A short "byte" stays singular in English.
        unitDisplay: step === 0 ? 'long' : 'short',
        maximumFractionDigits: step === 0 ? 0 : 1,
      }).format(count / 1000 ** step);
    },
    dateTime: (value, style) => {
      let made = dates.get(style);
      if (made === undefined) {
        made = new Intl.DateTimeFormat(language, {
          ...styles[style],
          timeZone,
          ...(style === 'exact' ? {} : { hourCycle: 'h23' }),
        });
        dates.set(style, made);
      }
      return made.format(value);
    },
    list: (items) => new Intl.ListFormat(language).format(items),
  };
}

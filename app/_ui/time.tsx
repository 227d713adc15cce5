'use client';

import type { TFunction } from 'i18next';
import { useSyncExternalStore } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTicking } from './clock.ts';
import { type DateStyle, useFormat } from './format.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * Formats a relative time, such as "4 s ago", "3 days ago" or "in 4 s". `delta` is in milliseconds, negative for the
 * past.
 */
export function relativeWords(t: TFunction<'common'>, delta: number): string {
  const size = Math.abs(delta);
  const past = delta <= 0;
  if (size < second) return t('time.now');
  if (size < minute) return t(past ? 'time.ago.s' : 'time.in.s', { n: Math.floor(size / second) });
  if (size < hour) return t(past ? 'time.ago.min' : 'time.in.min', { n: Math.floor(size / minute) });
  if (size < day) return t(past ? 'time.ago.h' : 'time.in.h', { n: Math.floor(size / hour) });
  return t(past ? 'time.ago.d' : 'time.in.d', { count: Math.floor(size / day) });
}

/**
 * Formats a duration, such as "12 s", "19 min" or "2 days". `length` is in milliseconds. Pass `since` as `use` for a
 * duration after the word "since", because some languages use another form there.
 */
export function durationWords(t: TFunction<'common'>, length: number, use: 'for' | 'since' = 'for'): string {
  if (length < minute) return t('time.for.s', { n: Math.max(0, Math.floor(length / second)) });
  if (length < hour) return t('time.for.min', { n: Math.floor(length / minute) });
  if (length < day) return t('time.for.h', { n: Math.floor(length / hour) });
  return t(`time.${use}.d`, { count: Math.floor(length / day) });
}

export interface TimeProps {
  value: Date;
  className?: string;
}

/** A relative time that updates as time passes. Shows the exact time with its zone on hover. */
export function RelativeTime({ value, className }: TimeProps) {
  const { t } = useTranslation('common');
  const format = useFormat();
  const text = useTicking((now) => relativeWords(t, value.getTime() - now));
  return (
    <time dateTime={value.toISOString()} title={format.dateTime(value, 'exact')} className={className}>
      {text}
    </time>
  );
}

/** The duration since a time, such as "19 min", updated as time passes. Shows the exact start on hover. */
export function Elapsed({ value, use, className }: TimeProps & { use?: Parameters<typeof durationWords>[2] }) {
  const { t } = useTranslation('common');
  const format = useFormat();
  const text = useTicking((now) => durationWords(t, now - value.getTime(), use));
  return (
    <time dateTime={value.toISOString()} title={format.dateTime(value, 'exact')} className={className}>
      {text}
    </time>
  );
}

/** A time or date, with the full time and its zone on hover. */
export function DateTime({ value, style = 'short', className }: TimeProps & { style?: DateStyle }) {
  const format = useFormat();
  return (
    <time dateTime={value.toISOString()} title={format.dateTime(value, 'exact')} className={className}>
      {format.dateTime(value, style)}
    </time>
  );
}

/**
 * The time left until `value`, such as `3:12`; `0:00` afterwards. With reduced motion, it changes only every ten
 * seconds.
 */
export function Countdown({ value, className }: TimeProps) {
  const format = useFormat();
  const step = useReducedMotion() ? 10 : 1;
  const text = useTicking((now) => {
    const left = Math.max(0, Math.ceil((value.getTime() - now) / second));
    return clock(Math.ceil(left / step) * step);
  });
  return (
    <time dateTime={value.toISOString()} title={format.dateTime(value, 'exact')} className={className}>
      {text}
    </time>
  );
}

const reducedMotion = '(prefers-reduced-motion: reduce)';

function onReducedMotion(listener: () => void): () => void {
  const query = matchMedia(reducedMotion);
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
}

/**
 * Returns whether the reader prefers reduced motion. Returns false in the first render, because the server does not
 * know.
 */
function useReducedMotion(): boolean {
  return useSyncExternalStore(
    onReducedMotion,
    () => matchMedia(reducedMotion).matches,
    () => false,
  );
}

/** Formats seconds as `0:04`, `3:12`, `1:02:30`. */
function clock(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}

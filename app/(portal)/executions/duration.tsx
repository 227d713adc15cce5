'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTicking } from '#app/_ui/clock.ts';
import { useFormat } from '#app/_ui/format.ts';
import { shortDuration } from './short-duration.ts';

function useDurationWords(): (ms: number) => string {
  const { t } = useTranslation('executions');
  const format = useFormat();
  return (ms) => {
    const shown = shortDuration(ms);
    return shown.unit === 'clock' ? shown.text : t(`time.${shown.unit}`, { n: format.number(shown.n) });
  };
}

/** How long something took, such as "340 ms", "2.1 s" or "4:16". */
export function Duration({ ms }: { ms: number }) {
  const words = useDurationWords();
  return <span className="tabular-nums">{words(ms)}</span>;
}

/** How long something has been running, updated as time passes. */
export function RunningFor({ since }: { since: string }) {
  const words = useDurationWords();
  const text = useTicking((now) => words(Math.max(1_000, Math.floor((now - Date.parse(since)) / 1_000) * 1_000)));
  return <span className="tabular-nums">{text}</span>;
}

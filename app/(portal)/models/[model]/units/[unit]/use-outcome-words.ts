'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { shortDuration } from '#app/(portal)/executions/short-duration.ts';
import type { ShownRun } from '../unit-data.ts';

/** Returns a function that says how a run ended in a word or two, such as “Exit 1”; a success is its duration. */
export function useOutcomeWords(): (run: Pick<ShownRun, 'outcome' | 'exitCode' | 'signal' | 'seconds'>) => string {
  const { t } = useTranslation('services');
  const duration = useDurationWords();
  return ({ outcome, exitCode, signal, seconds }) => {
    if (outcome === 'succeeded' && seconds !== null) return duration(seconds);
    if (outcome === 'failed' && exitCode !== null) return t('unit.outcome.exit', { code: exitCode });
    if (outcome === 'failed' && signal !== null) return t('unit.outcome.signal', { signal });
    return t(`unit.outcome.${outcome}`);
  };
}

/** Returns a function that formats a short duration, such as “1.2 s”. */
export function useDurationWords(): (seconds: number) => string {
  const { t } = useTranslation('executions');
  const format = useFormat();
  return (seconds) => {
    const shown = shortDuration(seconds * 1_000);
    return shown.unit === 'clock' ? shown.text : t(`time.${shown.unit}`, { n: format.number(shown.n) });
  };
}

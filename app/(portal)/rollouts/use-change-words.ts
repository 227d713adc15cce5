'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { ListedRollout } from './rollout-data.ts';

/** Returns a function that says what a rollout changes, such as "Acme.Lab.Probe: version 1.1". */
export function useChangeWords(): (change: ListedRollout['change']) => string {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  return ({ kind, handler, runbook, extension, version, state, settings }) => {
    if (kind === 'run') return t('change.run', { runbook: runbook ?? '', version: version ?? '' });
    if (handler === null) return t('change.revertAll');
    const subject = extension === null ? handler : `${extension} (${handler})`;
    if (kind !== 'set') return t(`change.${kind}`, { subject });
    const parts = [
      ...(version === null ? [] : [t('change.version', { version })]),
      ...(state === null ? [] : [t(`change.${state}`)]),
      ...(settings ? [t('change.settings')] : []),
    ];
    const what = parts.length === 0 ? t('change.policy') : format.list(parts);
    return t('change.set', { subject, what });
  };
}

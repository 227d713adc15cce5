'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { DraftChange } from './changes.ts';

/** Returns functions that format a difference: one for its title, one for its values. */
export function useChangeWords(): {
  title(change: DraftChange): string;
  value(change: DraftChange, value: string): string;
} {
  const { t } = useTranslation('editor');
  return {
    title(change) {
      switch (change.kind) {
        case 'setting':
          return change.titles.join(' › ');
        case 'timeout':
          return t('changes.timeout', { command: change.at });
        default:
          return t(`changes.${change.kind}`);
      }
    },
    value(change, value) {
      if (change.kind === 'state') return value === 'disabled' ? t('state.disabled') : t('state.enabled');
      if (change.kind === 'autoUpgrade') {
        return value === 'true' ? t('changes.autoUpgrade.true') : t('changes.autoUpgrade.false');
      }
      return value === '' ? '""' : value;
    },
  };
}

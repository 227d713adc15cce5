'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { endSentence } from '#protocol/executions/sentence.ts';
import type { ShownExecution } from './execution-data.ts';
import { useSeconds } from './use-seconds.ts';

/** Returns a function that says how an execution ended, in the language of the page (MU-20); null before the end. */
export function useOutcome(): (execution: ShownExecution) => string | null {
  const { t } = useTranslation('executions');
  const inWords = useSeconds();
  return ({ message, reason, approval, vmName, queuedAt, validUntil }) => {
    if (message === null) return null;
    if (reason === 'execution.declined' && approval !== null) {
      const { by, note } = approval;
      return note === null ? t('outcome.declined', { who: by }) : t('outcome.declinedWith', { who: by, note });
    }
    if (reason === 'execution.expired') {
      const seconds = Math.round((Date.parse(validUntil) - Date.parse(queuedAt)) / 1_000);
      return t('outcome.expired', { vm: vmName, time: inWords(seconds) });
    }
    const { id, params } = message;
    return endSentence(
      t(id as 'execution.cancelled', Object.fromEntries(params.map((param, index) => [String(index), param]))),
    );
  };
}

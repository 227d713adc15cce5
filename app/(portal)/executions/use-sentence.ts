'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { endSentence } from '#protocol/executions/sentence.ts';
import type { ShownExecution } from './execution-data.ts';

/** Returns a function that says how an execution ended, in the language of the page (MU-20). */
export function useSentence(): (message: NonNullable<ShownExecution['message']>) => string {
  const { t } = useTranslation('executions');
  return ({ id, params }) =>
    endSentence(
      t(id as 'execution.cancelled', Object.fromEntries(params.map((param, index) => [String(index), param]))),
    );
}

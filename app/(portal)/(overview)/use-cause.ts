'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { type Caused, causeWords } from '#server/domain/verdicts/words.ts';

/** Returns a function that describes why an extension is unhealthy, such as "enable: exit code 51". */
export function useCause(): (caused: Caused) => string {
  const { t } = useTranslation('overview');
  return (caused) => {
    const { key, params } = causeWords(caused);
    return t(key, params).trim();
  };
}

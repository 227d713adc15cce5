'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';

/** Returns a function that formats seconds in the largest unit that is exact, such as "15 min" or "2 days". */
export function useSeconds(): (seconds: number) => string {
  const { t } = useTranslation('common');
  return (seconds) => {
    if (seconds >= 86_400 && seconds % 86_400 === 0) return t('time.for.d', { count: seconds / 86_400 });
    if (seconds >= 3_600 && seconds % 3_600 === 0) return t('time.for.h', { n: seconds / 3_600 });
    if (seconds >= 60 && seconds % 60 === 0) return t('time.for.min', { n: seconds / 60 });
    return t('time.for.s', { n: seconds });
  };
}

'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';

/** Returns a function that says why a step has its state. Unknown codes are shown as they are. */
export function useCauseWords(): (cause: string | null) => string {
  const { t } = useTranslation('rollouts');
  return (cause) => {
    if (cause === null || cause === '') return t('cause.none');
    if (cause.startsWith('refused:')) return t('cause.refused', { code: cause.slice('refused:'.length) });
    if (cause.startsWith('code:')) return t('cause.code', { code: cause.slice('code:'.length) });
    const text = (t as unknown as (key: string) => string)(`cause.${cause}`);
    return text === `cause.${cause}` ? cause : text;
  };
}

import { useMemo } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';

/**
 * Returns functions that return the short labels of actions and targets, for filter options. They return unknown codes
 * unchanged.
 */
export function useActionWords(): { noun(noun: string): string; act(action: string): string } {
  const { t } = useTranslation('activity');
  return useMemo(() => {
    const say = (key: string, otherwise: string): string => {
      const text = (t as unknown as (key: string) => string)(key);
      return text === key || text === '' ? otherwise : text;
    };
    return {
      noun: (noun) => say(`noun.${noun}`, noun),
      act: (action) => say(`do.${action}`, say(`do.${action.slice(action.indexOf('.') + 1)}`, action)),
    };
  }, [t]);
}

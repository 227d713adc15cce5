'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useCause } from '#app/(portal)/(overview)/use-cause.ts';
import type { AttentionGroup } from '#server/domain/views/index.ts';

/** The title of a problem, and its language if it is the handler's own sentence. */
export interface GroupTitle {
  text: string;
  lang: string | null;
}

/**
 * Returns a function that titles a problem: with the handler's message or, if there is no message, with the cause of
 * the problem.
 */
export function useGroupTitle(): (group: AttentionGroup) => GroupTitle {
  const { t } = useTranslation('attention');
  const cause = useCause();
  return ({ extension, query }) => {
    if (extension === null) {
      return { text: t(query.includes('silence=alone') ? 'silent.alone' : 'silent.together'), lang: null };
    }
    const { message, handler } = extension;
    if (message) return { text: message.text, lang: message.lang };
    return { text: t('titled', { handler, cause: cause(extension) }), lang: null };
  };
}

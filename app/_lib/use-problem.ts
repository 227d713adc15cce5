'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { type ExplainedProblem, problemOf } from './problem.ts';

/** Returns a function that explains a thrown error: `const explain = useProblem(); explain(error).message`. */
export function useProblem(): (error: unknown) => ExplainedProblem {
  const { t } = useTranslation('common');
  return (error) => {
    const problem = problemOf(error);
    if (problem.offline) return { ...problem, message: t('problem.offline') };
    return problem.message === '' ? { ...problem, message: t('problem.unknown') } : problem;
  };
}

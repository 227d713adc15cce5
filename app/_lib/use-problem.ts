'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { type ExplainedProblem, problemOf } from './problem.ts';

/** Turns a thrown error into words for a page: `const explain = useProblem(); explain(error).message`. */
export function useProblem(): (error: unknown) => ExplainedProblem {
  const { t } = useTranslation('common');
  return (error) => {
    const problem = problemOf(error);
    if (problem.offline) return { ...problem, message: t('problem.offline') };
    return problem.message === '' ? { ...problem, message: t('problem.unknown') } : problem;
  };
}

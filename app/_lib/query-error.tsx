'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { ErrorState } from '../_ui/error-state.tsx';
import { useProblem } from './use-problem.ts';

export interface QueryErrorProps {
  /** Pass `query.error`. */
  error: unknown;
  /** What failed, such as "The list did not load". */
  title?: string;
  /** Pass `() => query.refetch()`. */
  onRetry?(): unknown;
  /** Pass `new Date(query.errorUpdatedAt)`. */
  at?: Date;
}

/** Shown in place of a query's data if the query failed. */
export function QueryError({ error, title, onRetry, at }: QueryErrorProps) {
  const { t } = useTranslation('common');
  const problem = useProblem()(error);
  return (
    <ErrorState
      title={title ?? t('problem.notLoaded')}
      message={problem.message}
      code={problem.code}
      requestId={problem.requestId}
      at={at}
      onRetry={onRetry === undefined ? undefined : () => void onRetry()}
    />
  );
}

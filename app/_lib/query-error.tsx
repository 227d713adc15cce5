'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { ErrorState } from '../_ui/error-state.tsx';
import { useProblem } from './use-problem.ts';

export interface QueryErrorProps {
  /** `query.error`. */
  error: unknown;
  /** What failed: "The list did not load". */
  title?: string;
  /** `() => query.refetch()`. */
  onRetry?(): unknown;
  /** `new Date(query.errorUpdatedAt)`. */
  at?: Date;
}

/** The failed state of a query, in place of its data. */
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

'use client';

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { hasEnded, type ShownExecutionDetails } from '#app/(portal)/executions/execution-data.ts';
import { PlanView } from './plan-view.tsx';
import { exceptionOf, linesOfStack } from './result.ts';

/** The plan as it was queued, in its parts or as JSON. Lines of the Body that the exception names are marked. */
export function PlanCard({ execution, first }: { execution: ShownExecutionDetails; first: string | undefined }) {
  const { t } = useTranslation('executions');
  const trpc = useTRPC();
  const about = { vmId: execution.vmId, executionId: execution.id };
  const plan = useQuery({ ...trpc.executions.plan.queryOptions(about), initialData: first });
  const result = useQuery({ ...trpc.executions.result.queryOptions(about), enabled: hasEnded(execution) });
  return (
    <Card>
      {plan.data !== undefined ? (
        <PlanView
          text={plan.data}
          secretParameters={execution.secretParameters}
          areSecretsDeleted={hasEnded(execution)}
          failedLines={failedLines(result.data ?? null)}
        />
      ) : (
        <>
          <CardHeader title={t('plan.title')} />
          {plan.error ? (
            <QueryError error={plan.error} onRetry={plan.refetch} at={new Date(plan.errorUpdatedAt)} />
          ) : (
            <SkeletonRows columns={['w-64']} rows={4} label={t('loading')} />
          )}
        </>
      )}
    </Card>
  );
}

function failedLines(result: string | null): number[] {
  const body = (JSON.parse(result ?? 'null') as { Body?: unknown } | null)?.Body;
  return linesOfStack(exceptionOf(body)?.Stack ?? []);
}

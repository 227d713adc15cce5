'use client';

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { CopyButton } from '#app/_ui/copy.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { hasEnded, type ShownExecutionDetails } from '#app/(portal)/executions/execution-data.ts';
import { readable } from '../plan-text.ts';
import { PlanParts } from './plan-parts.tsx';
import { readPlan } from './read-plan.ts';
import { exceptionOf, linesOfStack, shownText } from './result.ts';

type View = 'parts' | 'json';

/** The plan as it was queued, in its parts or as JSON. Lines of the Body that the exception names are marked. */
export function PlanCard({ execution, first }: { execution: ShownExecutionDetails; first: string | undefined }) {
  const { t } = useTranslation('executions');
  const trpc = useTRPC();
  const [view, setView] = useState<View>('parts');
  const about = { vmId: execution.vmId, executionId: execution.id };
  const plan = useQuery({ ...trpc.executions.plan.queryOptions(about), initialData: first });
  const result = useQuery({ ...trpc.executions.result.queryOptions(about), enabled: hasEnded(execution) });
  const parts = plan.data === undefined ? null : readPlan(plan.data);
  return (
    <Card>
      <CardHeader
        title={t('plan.title')}
        actions={
          plan.data === undefined ? undefined : (
            <>
              {parts === null ? null : (
                <Segmented<View>
                  label={t('plan.view')}
                  value={view}
                  onChange={setView}
                  options={[
                    { value: 'parts', label: t('plan.parts') },
                    { value: 'json', label: <span translate="no">JSON</span> },
                  ]}
                />
              )}
              <CopyButton text={plan.data} label={t('plan.copy')} />
            </>
          )
        }
      />
      {plan.error && !plan.data ? (
        <QueryError error={plan.error} onRetry={plan.refetch} at={new Date(plan.errorUpdatedAt)} />
      ) : plan.data === undefined ? (
        <SkeletonRows columns={['w-64']} rows={4} label={t('loading')} />
      ) : parts !== null && view === 'parts' ? (
        <PlanParts parts={parts} failedLines={failedLines(result.data ?? null)} />
      ) : (
        <CardBody>
          <CodeBlock
            code={shownText(readable(plan.data)).text}
            language="json"
            label={t('plan.title')}
            className="max-h-[32rem]"
          />
          {shownText(readable(plan.data)).isCut ? <p className="mt-2 text-12 text-ink-2">{t('result.cut')}</p> : null}
        </CardBody>
      )}
    </Card>
  );
}

function failedLines(result: string | null): number[] {
  const body = (JSON.parse(result ?? 'null') as { Body?: unknown } | null)?.Body;
  return linesOfStack(exceptionOf(body)?.Stack ?? []);
}

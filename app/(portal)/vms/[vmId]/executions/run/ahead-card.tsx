'use client';

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { ExecutionName, ExecutionState } from '#app/(portal)/executions/execution-name.tsx';
import { executionsBefore } from '#app/(portal)/executions/shown-state.ts';
import { tabHref } from '../../vm-data.ts';

const fewRows = 5;

/** The executions that come before an execution that is queued now. */
export function AheadCard({ vmId }: { vmId: string }) {
  const { t } = useTranslation('runbooks');
  const trpc = useTRPC();
  const open = useQuery(trpc.executions.list.queryOptions({ vmId, ended: false, limit: 200 }));
  const ahead = executionsBefore(open.data?.items ?? []);
  const rest = ahead.length - fewRows;
  return (
    <Card>
      <CardHeader
        title={t('ahead.title')}
        actions={<TextLink href={tabHref(vmId, 'executions')}>{t('ahead.all')}</TextLink>}
      />
      {open.error && !open.data ? (
        <QueryError error={open.error} onRetry={open.refetch} at={new Date(open.errorUpdatedAt)} />
      ) : open.isPending ? (
        <SkeletonRows columns={['w-40']} rows={2} label={t('ahead.title')} />
      ) : ahead.length === 0 ? (
        <CardBody className="text-ink-2">{t('ahead.none')}</CardBody>
      ) : (
        <>
          <ol>
            {ahead.slice(0, fewRows).map((execution) => (
              <li key={execution.id} className="border-t border-line-subtle px-4 py-2">
                <ExecutionName execution={execution} />
                <span className="block text-12">
                  <ExecutionState execution={execution} />
                </span>
              </li>
            ))}
          </ol>
          {rest > 0 ? (
            <p className="border-t border-line-subtle px-4 py-2 text-12 text-ink-2">
              {t('ahead.rest', { count: rest })}
            </p>
          ) : null}
        </>
      )}
    </Card>
  );
}

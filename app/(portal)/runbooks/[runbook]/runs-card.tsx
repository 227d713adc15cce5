'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { ExecutionTable } from '#app/(portal)/executions/execution-table.tsx';
import { addressOfFilter } from '#app/(portal)/executions/executions-address.ts';
import { MoreButton } from '#app/(portal)/executions/more-button.tsx';
import { type FirstExecutions, useExecutions } from '#app/(portal)/executions/use-executions.ts';

/** The executions of a runbook: on which VMs it ran, and how it ended. */
export function RunsCard({ name, first }: { name: string; first: FirstExecutions }) {
  const { t } = useTranslation('runbooks');
  const { list, executions } = useExecutions({ runbook: name }, first);
  return (
    <Card>
      <CardHeader
        title={t('runs.title')}
        note={t('runs.note')}
        actions={
          executions.length === 0 ? undefined : (
            <TextLink href={`/executions?${addressOfFilter({ runbook: name })}`}>{t('runs.all')}</TextLink>
          )
        }
      />
      {list.error && !list.data ? (
        <QueryError error={list.error} onRetry={list.refetch} at={new Date(list.errorUpdatedAt)} />
      ) : list.isPending ? (
        <SkeletonRows columns={['w-20', 'w-40', 'w-48']} rows={3} label={t('list.loading')} />
      ) : executions.length === 0 ? (
        <CardBody className="text-ink-2">{t('runs.empty')}</CardBody>
      ) : (
        <>
          <ExecutionTable label={t('runs.title')} executions={executions} showsVm isNarrow />
          <MoreButton list={list} />
        </>
      )}
    </Card>
  );
}

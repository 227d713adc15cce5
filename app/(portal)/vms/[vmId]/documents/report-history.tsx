'use client';

import { useInfiniteQuery } from '@tanstack/react-query';
import { useSearchParams } from 'next/navigation';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Select } from '#app/_ui/select.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Table, TableFrame, TBody, Td, THead, Th } from '#app/_ui/table.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import { OpeningRow } from '../opening-row.tsx';
import { putInAddress } from '../put-in-address.ts';
import type { InstanceDetails, PastReport } from '../vm-data.ts';
import { JsonDocument } from './json-document.tsx';

const kinds = ['handler', 'heartbeat', 'status'] as const;
/** A small number, because documents may be large. */
const pageSize = 25;

/** The history of reports, newest first. A row opens to show the document as it was sent. */
export function ReportHistory({ view }: { view: InstanceDetails }) {
  const { t } = useTranslation(['goal-states', 'common']);
  const trpc = useTRPC();
  const address = useSearchParams();
  const extension = view.extensions.find(({ name }) => name === address.get('extension'))?.name;
  const kind = kinds.find((each) => each === address.get('kind'));
  const history = useInfiniteQuery(
    trpc.instanceViews.history.infiniteQueryOptions(
      { vmId: view.vmId, limit: pageSize, ...(extension && { extension }), ...(kind && { kind }) },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
  );
  const reports = history.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Card>
      <CardHeader
        title={t('goal-states:reports.title')}
        note={t('goal-states:reports.note')}
        actions={
          <div className="flex flex-wrap items-center justify-end gap-2">
            <Select
              className="w-40"
              aria-label={t('goal-states:documents.extension')}
              value={extension ?? ''}
              onChange={(event) => putInAddress({ extension: event.target.value || null })}
              options={[
                { value: '', label: t('goal-states:reports.allExtensions') },
                ...view.extensions.map(({ name }) => ({ value: name, label: name })),
              ]}
            />
            <Select
              className="w-40"
              aria-label={t('goal-states:reports.kind')}
              value={kind ?? ''}
              onChange={(event) => putInAddress({ kind: event.target.value || null })}
              options={[
                { value: '', label: t('goal-states:reports.allKinds') },
                ...kinds.map((value) => ({ value, label: t(`goal-states:documents.kind.${value}`) })),
              ]}
            />
          </div>
        }
      />
      {history.error && !history.data ? (
        <QueryError error={history.error} onRetry={history.refetch} at={new Date(history.errorUpdatedAt)} />
      ) : history.isPending ? (
        <SkeletonRows columns={['w-32', 'w-24', 'w-24']} rows={6} label={t('goal-states:documents.loading')} />
      ) : reports.length === 0 ? (
        <p className="px-4 pb-4 text-ink-2">{t('goal-states:reports.none')}</p>
      ) : (
        <TableFrame label={t('goal-states:reports.title')}>
          <Table>
            <THead>
              <tr>
                <Th>{t('goal-states:reports.at')}</Th>
                <Th>{t('goal-states:documents.extension')}</Th>
                <Th>{t('goal-states:reports.kind')}</Th>
                <Th end>{t('goal-states:reports.sequence')}</Th>
                <Th end>{t('goal-states:reports.size')}</Th>
              </tr>
            </THead>
            <TBody>
              {reports.map((report) => (
                <ReportRow key={report.id} vm={view.name} report={report} />
              ))}
            </TBody>
          </Table>
        </TableFrame>
      )}
      {history.hasNextPage ? (
        <div className="border-t border-line-subtle p-2">
          <Button variant="ghost" busy={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
            {t('common:showMore')}
          </Button>
        </div>
      ) : null}
    </Card>
  );
}

function ReportRow({ vm, report }: { vm: string; report: PastReport }) {
  const { t } = useTranslation('goal-states');
  const format = useFormat();
  const { id, at, extension, kind, sequenceNumber, current, document } = report;
  return (
    <OpeningRow
      at={at}
      columns={5}
      cells={
        <>
          <Td>{extension}</Td>
          <Td>
            {t(`documents.kind.${kind}`)} {current ? null : <Chip>{t('reports.late')}</Chip>}
          </Td>
          <Td end className="tabular-nums">
            {sequenceNumber}
          </Td>
          <Td end className="tabular-nums">
            {format.bytes(JSON.stringify(document).length)}
          </Td>
        </>
      }
    >
      <JsonDocument
        title={t('reports.document', { extension, kind: t(`documents.kind.${kind}`) })}
        value={document}
        file={`${vm}-${extension}-${kind}-${id}`}
        className="max-h-96"
      />
    </OpeningRow>
  );
}

'use client';

import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Status } from '#app/_ui/status.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { FleetRow } from '../../vms/reading.ts';
import { sampleSize } from './matches-query.ts';

export interface SampleTableProps {
  /** Undefined while loading. */
  rows: readonly FleetRow[] | undefined;
  total: number;
  /** Whether all VMs are selected, so that no rows mean that there are no VMs. */
  isAll: boolean;
}

/** The first VMs of the selection, with their extensions and health. */
export function SampleTable({ rows, total, isAll }: SampleTableProps) {
  const { t } = useTranslation(['rollouts', 'vms', 'reports']);
  const format = useFormat();
  if (rows === undefined) {
    return (
      <div className="-mx-4">
        <SkeletonRows columns={['w-28', 'w-40', 'w-20']} rows={sampleSize} label={t('vms:loading')} />
      </div>
    );
  }
  if (rows.length === 0) {
    return <p className="text-ink-2">{t(isAll ? 'vms:empty.title' : 'rollouts:new.who.none')}</p>;
  }
  const caption = t('rollouts:new.who.sample', { shown: format.number(rows.length), total: format.number(total) });
  return (
    <TableFrame label={caption} className="-mx-4">
      <Table>
        <THead>
          <tr>
            <Th>{caption}</Th>
            <Th className="max-sm:hidden">{t('vms:column.extensions')}</Th>
            <Th>{t('vms:column.health')}</Th>
          </tr>
        </THead>
        <TBody>
          {rows.map((row) => (
            <Tr key={row.id}>
              <Td className="h-8 max-w-44 truncate font-medium">
                <TextLink href={`/vms/${row.id}`} translate="no" className="text-ink no-underline hover:underline">
                  {row.name}
                </TextLink>
              </Td>
              <Td translate="no" className="h-8 max-w-56 truncate text-ink-2 max-sm:hidden">
                {row.extensions.map(({ name }) => name).join(', ')}
              </Td>
              <Td className="h-8">
                <Status status={row.agent.status === 'unresponsive' ? 'unresponsive' : statusOfHealth[row.health]}>
                  {t(`reports:health.${row.health}`)}
                </Status>
              </Td>
            </Tr>
          ))}
        </TBody>
      </Table>
    </TableFrame>
  );
}

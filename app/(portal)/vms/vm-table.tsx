'use client';

import { useWindowVirtualizer } from '@tanstack/react-virtual';
import type { inferRouterOutputs } from '@trpc/server';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useKeys } from '#app/_lib/keys.tsx';
import { Card } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Status, StatusChip } from '#app/_ui/status.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { Chip, Tag } from '#app/_ui/tag.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import type { AppRouter } from '#server/trpc/root.ts';

type FleetRow = inferRouterOutputs<AppRouter>['vms']['list']['items'][number];

const rowHeight = 36;
const chipsShown = 4;
const tagsShown = 2;
const severity = ['failed', 'unresponsive', 'degraded', 'progressing', 'unknown', 'healthy', 'disabled'];

export interface VmTableProps {
  rows: readonly FleetRow[];
  loading: boolean;
  /** The rows are those of an earlier search. */
  stale: boolean;
  /** Loads the next page; absent where there is none, or it is on its way. */
  more: (() => void) | undefined;
}

/** Rows of the fleet; only those in sight are in the document. `j` and `k` walk, Enter opens. */
export function VmTable({ rows, loading, stale, more }: VmTableProps) {
  const { t } = useTranslation('vms');
  const router = useRouter();
  const frame = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [cursor, setCursor] = useState(-1);
  useLayoutEffect(() => setTop(frame.current?.offsetTop ?? 0), []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: top,
    // The rows that the server renders, before the window's height is known.
    initialRect: { width: 1200, height: 1200 },
  });
  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && lastShown >= rows.length - 30) more();
  }, [more, lastShown, rows.length]);

  const walk = (step: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, cursor + step));
    setCursor(next);
    virtual.scrollToIndex(next);
  };
  useKeys([
    { key: 'j', label: t('keys.next'), run: () => walk(1) },
    { key: 'k', label: t('keys.previous'), run: () => walk(-1) },
    {
      key: 'Enter',
      label: t('keys.open'),
      run: (event) => {
        const row = rows[cursor];
        if (!row || (event.target instanceof Element && event.target.closest('a, button'))) return;
        router.push(`/vms/${row.id}`);
      },
    },
  ]);

  const before = (items[0]?.start ?? top) - top;
  const after = virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top);
  return (
    <Card ref={frame} aria-busy={loading || stale} className={cn(stale && 'opacity-60')}>
      <TableFrame label={t('title')}>
        <Table className="max-sm:block">
          <THead className="max-sm:sr-only">
            <tr>
              <Th>{t('column.name')}</Th>
              <Th>{t('column.health')}</Th>
              <Th className="w-full">{t('column.extensions')}</Th>
              <Th className="max-md:hidden">{t('column.tags')}</Th>
              <Th className="max-md:hidden">{t('column.agent')}</Th>
              <Th end>{t('column.lastSeen')}</Th>
            </tr>
          </THead>
          <TBody className="max-sm:block">
            {before > 0 ? <Spacer height={before} /> : null}
            {items.map((item) => {
              const row = rows[item.index];
              return row ? (
                <VmRow
                  key={row.id}
                  row={row}
                  cursor={item.index === cursor}
                  measure={virtual.measureElement}
                  index={item.index}
                />
              ) : null;
            })}
            {after > 0 ? <Spacer height={after} /> : null}
          </TBody>
        </Table>
        {loading ? (
          <SkeletonRows columns={['w-28', 'w-20', 'w-64', 'w-24', 'w-12', 'w-14']} rows={12} label={t('loading')} />
        ) : null}
      </TableFrame>
    </Card>
  );
}

function Spacer({ height }: { height: number }) {
  return (
    <tr aria-hidden className="max-sm:block" style={{ height }}>
      <td colSpan={6} />
    </tr>
  );
}

interface VmRowProps {
  row: FleetRow;
  cursor: boolean;
  index: number;
  measure: (element: Element | null) => void;
}

function VmRow({ row, cursor, index, measure }: VmRowProps) {
  const { t } = useTranslation(['vms', 'reports']);
  const status = row.agent.status === 'unresponsive' ? 'unresponsive' : statusOfHealth[row.health];
  const worstFirst = [...row.extensions].sort((a, b) => severity.indexOf(a.health) - severity.indexOf(b.health));
  const tags = Object.entries(row.tags);
  const narrow = 'max-sm:block max-sm:h-auto max-sm:border-0 max-sm:p-0';
  return (
    <Tr
      ref={measure}
      data-index={index}
      cursor={cursor}
      className="relative max-sm:grid max-sm:grid-cols-[minmax(0,1fr)_auto] max-sm:gap-x-3 max-sm:gap-y-1 max-sm:border-b max-sm:border-line-subtle max-sm:px-4 max-sm:py-2.5 max-sm:[&>td]:ps-0! max-sm:[&>td]:pe-0!"
    >
      <Td className={cn('min-w-36 max-w-72 max-sm:min-w-0 font-medium', narrow)}>
        <Link
          href={`/vms/${row.id}`}
          // A row that scrolls by is not about to be opened.
          prefetch={false}
          title={row.name}
          className="block truncate after:absolute after:inset-0 focus-visible:after:shadow-(--focus) focus-visible:shadow-none"
        >
          {row.name}
        </Link>
      </Td>
      <Td className={cn('min-w-32 max-sm:min-w-0 max-sm:text-end', narrow)}>
        <Status status={status}>
          {row.agent.status === 'never' ? t('vms:neverSeen') : t(`reports:health.${row.health}`)}
        </Status>
      </Td>
      <Td className={cn('max-sm:order-1', narrow)}>
        <span className="flex flex-wrap gap-1 max-sm:py-0.5">
          {worstFirst.slice(0, chipsShown).map((extension) => (
            <StatusChip
              key={extension.name}
              status={extension.waitsFor === null ? statusOfHealth[extension.health] : 'waiting'}
              word={
                extension.waitsFor === null
                  ? t(`reports:health.${extension.health}`)
                  : t('vms:waitsFor', { name: extension.waitsFor })
              }
            >
              {extension.name}
            </StatusChip>
          ))}
          {worstFirst.length > chipsShown ? (
            <Chip
              title={worstFirst
                .slice(chipsShown)
                .map(({ name }) => name)
                .join(', ')}
            >
              +{worstFirst.length - chipsShown}
            </Chip>
          ) : null}
          {row.decommissioning ? <Chip>{t('vms:decommissioning')}</Chip> : null}
        </span>
      </Td>
      <Td className="max-md:hidden">
        <span className="flex gap-1">
          {tags.slice(0, tagsShown).map(([name, value]) => (
            <Tag key={name} name={name} className="max-w-36">
              {value}
            </Tag>
          ))}
          {tags.length > tagsShown ? (
            <Chip
              title={tags
                .slice(tagsShown)
                .map(([name, value]) => `${name}: ${value}`)
                .join(', ')}
            >
              +{tags.length - tagsShown}
            </Chip>
          ) : null}
        </span>
      </Td>
      <Td className="text-ink-2 max-md:hidden">{row.agentVersion}</Td>
      <Td end className={cn('text-ink-2 max-sm:order-2 max-sm:self-center max-sm:text-12', narrow)}>
        {row.agent.lastSeenAt ? <RelativeTime value={new Date(row.agent.lastSeenAt)} /> : null}
      </Td>
    </Tr>
  );
}

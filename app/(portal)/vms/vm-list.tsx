'use client';

import { Download, Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { writeChoice } from '#app/_lib/cookies.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useRequestedAct } from '#app/_lib/requested-act.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { ListedField } from '#server/domain/fleet/index.ts';
import { useBulk } from './bulk/use-bulk.tsx';
import { type TableLook, writeLook } from './columns.ts';
import { FilterBar } from './filter-bar.tsx';
import { type FleetQuery, isFiltered, usualSort, writeAddress } from './fleet-address.ts';
import type { FirstPage, FleetSummary } from './reading.ts';
import { type FleetAddress, useFleetAddress } from './use-fleet-address.ts';
import { type ReadingState, useReading } from './use-reading.ts';
import { VmTable } from './vm-table.tsx';

const EnrollDialog = dynamic(() => import('./enroll-dialog.tsx').then((module) => module.EnrollDialog), {
  ssr: false,
});
// The server renders them on the first page load, so nothing moves when their scripts load.
const ColumnMenu = dynamic(() => import('./column-menu.tsx').then((module) => module.ColumnMenu));
const QuickViews = dynamic(() => import('./quick-views.tsx').then((module) => module.QuickViews));
const Banner = dynamic(() => import('#app/_ui/banner.tsx').then((module) => module.Banner));
const NoVms = dynamic(() => import('./vm-list-empty.tsx').then((module) => module.NoVms));
const NoMatch = dynamic(() => import('./vm-list-empty.tsx').then((module) => module.NoMatch));

export interface VmListProps {
  first: FirstPage;
  summary: FleetSummary | null;
  look: TableLook;
  fields: readonly ListedField[];
  gatewayUrl: string;
}

/** The fleet: a table of VMs with quick views. The URL stores its filters and order. */
export function VmList({ first, summary, look: firstLook, fields, gatewayUrl }: VmListProps) {
  const { t, i18n } = useTranslation('vms');
  const reader = useReader();
  const address = useFleetAddress(fields);
  const { query } = address;
  const list = useReading(query, first);
  const [enrolling, setEnrolling] = useState(false);
  useRequestedAct('enroll', () => setEnrolling(true));
  const [look, setLook] = useState(firstLook);
  useTopOfList(list.reading === undefined ? '' : address.hrefOf(list.reading.query));
  const { reading, waiting, refresh } = list;
  useShowNew(enrolling || reading?.total === 0, waiting, refresh);

  const mayEnroll = reader.can('operator');
  const isEmpty = reading?.total === 0 && !isFiltered(reading.query.filter);
  const enroll = (
    <Button variant="primary" onClick={() => setEnrolling(true)}>
      <Plus aria-hidden />
      {t('enroll')}
    </Button>
  );
  const bulk = useBulk(mayEnroll ? reading : undefined);
  const show = () => {
    refresh();
    window.scrollTo({ top: 0 });
  };

  return (
    <>
      <PageHeader
        title={t('title')}
        actions={
          isEmpty ? undefined : (
            <>
              <Button asChild>
                <a href={exportAddress(fields, query, i18n.language)} download>
                  <Download aria-hidden />
                  {t('export')}
                </a>
              </Button>
              {mayEnroll ? enroll : null}
            </>
          )
        }
      />
      {isEmpty ? null : (
        <ListTools {...{ address, first, summary, look, setLook, list }} onShow={show} select={bulk.button} />
      )}
      <ListBody list={list} first={first} look={look} address={address} enroll={mayEnroll ? enroll : undefined} />
      {bulk.bar}
      {enrolling ? <EnrollDialog gatewayUrl={gatewayUrl} onClose={() => setEnrolling(false)} /> : null}
    </>
  );
}

interface ListToolsProps {
  address: FleetAddress;
  first: FirstPage;
  summary: FleetSummary | null;
  look: TableLook;
  setLook(look: TableLook): void;
  list: ReadingState;
  onShow(): void;
  /** The button that selects all matching VMs. */
  select: ReactNode;
}

function ListTools({ address, first, summary, look, setLook, list, onShow, select }: ListToolsProps) {
  const { t } = useTranslation('vms');
  const { reading, waiting } = list;
  return (
    <>
      <QuickViews address={address} first={summary} firstAt={first.at} />
      {address.ignored.length === 0 ? null : (
        <Banner status="unknown" boxed className="mb-3">
          {t('ignored', { names: address.ignored.join(', '), count: address.ignored.length })}
        </Banner>
      )}
      <div className="mb-3 flex flex-wrap items-center gap-2">
        {/* biome-ignore lint/a11y/useSemanticElements: the items of a fieldset cannot wrap with other items */}
        <div role="group" aria-label={t('filters')} className="contents">
          <FilterBar address={address} />
        </div>
        <span className="ms-auto flex items-center gap-2">
          {waiting === 0 ? null : <Waiting count={waiting} onShow={onShow} />}
          <Matching total={reading?.total} filtered={reading !== undefined && isFiltered(reading.query.filter)} />
          {select}
          <ColumnMenu
            look={look}
            onChange={(next) => {
              setLook(next);
              writeChoice('fleetLook', writeLook(next));
            }}
          />
        </span>
      </div>
    </>
  );
}

interface ListBodyProps {
  list: ReadingState;
  first: FirstPage;
  look: TableLook;
  address: FleetAddress;
  /** The button that adds a VM; undefined for readers who may not add VMs. */
  enroll: ReactNode;
}

/** The table, or what is shown in its place: an error, a placeholder while loading, or why the list is empty. */
function ListBody({ list, first, look, address, enroll }: ListBodyProps) {
  const { t } = useTranslation('vms');
  const { reading } = list;
  if (list.error) {
    return (
      <Card>
        <QueryError title={t('failed')} error={list.error} onRetry={list.retry} at={new Date(list.errorAt)} />
      </Card>
    );
  }
  if (reading === undefined) {
    return (
      <Card>
        <SkeletonRows columns={['w-28', 'w-20', 'w-64', 'w-24', 'w-12', 'w-14']} rows={12} label={t('loading')} />
      </Card>
    );
  }
  if (reading.total > 0) {
    return (
      <VmTable
        reading={reading}
        first={first}
        look={look}
        stale={list.isStale}
        onSort={(sort) => address.change({ sort })}
      />
    );
  }
  if (!isFiltered(reading.query.filter)) {
    return <NoVms enroll={enroll} />;
  }
  const clear = () => {
    address.setSearch('');
    address.change({ filter: {} });
  };
  return <NoMatch onClear={clear} />;
}

/** Returns the URL of a CSV file that lists all matching VMs by name, with a header in the page's language. */
function exportAddress(fields: readonly ListedField[], { filter }: FleetQuery, language: string): string {
  return `/download/vms.csv?${[writeAddress(fields, { filter, sort: usualSort(filter) }), `lang=${language}`].filter(Boolean).join('&')}`;
}

function Matching({ total, filtered }: { total: number | undefined; filtered: boolean }) {
  const { t } = useTranslation('vms');
  const format = useFormat();
  return (
    <span className="text-12 whitespace-nowrap text-ink-3 tabular-nums" role="status">
      {total === undefined ? null : t(filtered ? 'matching' : 'shown', { count: total, n: format.number(total) })}
    </span>
  );
}

/**
 * A button that updates the list. VMs appear or disappear only after a click, so that rows do not move while the reader
 * looks at them.
 */
function Waiting({ count, onShow }: { count: number; onShow(): void }) {
  const { t } = useTranslation('vms');
  const format = useFormat();
  const size = Math.abs(count);
  return (
    <Button size="sm" onClick={onShow} className="text-brand-text">
      {t(count > 0 ? 'waiting.more' : 'waiting.fewer', { count: size, n: format.number(size) })}
    </Button>
  );
}

/** Scrolls to the top when the list changes, but not for the first list. */
function useTopOfList(list: string): void {
  const shown = useRef(list);
  useEffect(() => {
    if (shown.current === list) return;
    shown.current = list;
    window.scrollTo({ top: 0 });
  }, [list]);
}

/** Refreshes the list without a click if `always` is set: while a VM is being created, and while the list is empty. */
function useShowNew(always: boolean, waiting: number, refresh: () => void): void {
  const latest = useRef(refresh);
  useEffect(() => {
    latest.current = refresh;
  });
  useEffect(() => {
    if (always && waiting !== 0) latest.current();
  }, [always, waiting]);
}

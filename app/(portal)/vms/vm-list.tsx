'use client';

import { Download, Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useEffect, useRef, useState } from 'react';
import { writeChoice } from '#app/_lib/cookies.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useRequestedAct } from '#app/_lib/requested-act.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { ListedField } from '#server/domain/fleet/index.ts';
import { ColumnMenu } from './column-menu.tsx';
import { type TableLook, writeLook } from './columns.ts';
import { FilterBar } from './filter-bar.tsx';
import { type FleetQuery, isFiltered, writeAddress } from './fleet-address.ts';
import { QuickViews } from './quick-views.tsx';
import type { FirstPage, FleetSummary } from './reading.ts';
import { useFleetAddress } from './use-fleet-address.ts';
import { useReading } from './use-reading.ts';
import { VmTable } from './vm-table.tsx';

const EnrollDialog = dynamic(() => import('./enroll-dialog.tsx').then((module) => module.EnrollDialog), {
  ssr: false,
});

export interface VmListProps {
  first: FirstPage;
  summary: FleetSummary | null;
  look: TableLook;
  fields: readonly ListedField[];
  gatewayUrl: string;
}

/** The fleet: views, filters and order, which live in the address, and the table. */
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
  useNewAtOnce(enrolling || reading?.total === 0, waiting, refresh);

  const mayEnroll = reader.can('operator');
  const isEmpty = reading?.total === 0 && !isFiltered(reading.query.filter);
  const enroll = (
    <Button variant="primary" onClick={() => setEnrolling(true)}>
      <Plus aria-hidden />
      {t('enroll')}
    </Button>
  );
  const clear = () => {
    address.setSearch('');
    address.change({ filter: {} });
  };
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
        <>
          <QuickViews address={address} first={summary} firstAt={first.at} />
          {address.ignored.length === 0 ? null : (
            <Banner status="unknown" boxed className="mb-3">
              {t('ignored', { names: address.ignored.join(', '), count: address.ignored.length })}
            </Banner>
          )}
          <div className="mb-3 flex flex-wrap items-center gap-2">
            {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is drawn as a box of its own and does not wrap */}
            <div role="group" aria-label={t('filters')} className="contents">
              <FilterBar address={address} />
            </div>
            <span className="ms-auto flex items-center gap-2">
              {waiting === 0 ? null : <Waiting count={waiting} onShow={show} />}
              <Matching total={reading?.total} filtered={reading !== undefined && isFiltered(reading.query.filter)} />
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
      )}
      {list.error ? (
        <Card>
          <QueryError title={t('failed')} error={list.error} onRetry={list.retry} at={new Date(list.errorAt)} />
        </Card>
      ) : reading === undefined ? (
        <Card>
          <SkeletonRows columns={['w-28', 'w-20', 'w-64', 'w-24', 'w-12', 'w-14']} rows={12} label={t('loading')} />
        </Card>
      ) : reading.total > 0 ? (
        <VmTable
          reading={reading}
          first={first}
          look={look}
          stale={list.isStale}
          onSort={(sort) => address.change({ sort })}
        />
      ) : isEmpty ? (
        <Card>
          <EmptyState title={t('empty.title')} actions={mayEnroll ? enroll : undefined}>
            <p>{t(mayEnroll ? 'empty.why' : 'empty.viewer')}</p>
          </EmptyState>
        </Card>
      ) : (
        <Card>
          <EmptyState title={t('noMatch.title')} actions={<Button onClick={clear}>{t('noMatch.clear')}</Button>}>
            <p>{t('noMatch.why')}</p>
          </EmptyState>
        </Card>
      )}
      {enrolling ? <EnrollDialog gatewayUrl={gatewayUrl} onClose={() => setEnrolling(false)} /> : null}
    </>
  );
}

/** The file holds all that match, by name, with its head in the language of the page. */
function exportAddress(fields: readonly ListedField[], { filter }: FleetQuery, language: string): string {
  return `/download/vms.csv?${[writeAddress(fields, { filter, sort: 'name' }), `lang=${language}`].filter(Boolean).join('&')}`;
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

/** What has come or gone waits here: rows do not move under a reader's eyes. */
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

/** Another list begins at its top; the first one where the browser was. */
function useTopOfList(list: string): void {
  const shown = useRef(list);
  useEffect(() => {
    if (shown.current === list) return;
    shown.current = list;
    window.scrollTo({ top: 0 });
  }, [list]);
}

/** What the reader has just made, and the first rows of an empty list, appear by themselves: nobody reads there. */
function useNewAtOnce(atOnce: boolean, waiting: number, refresh: () => void): void {
  const latest = useRef(refresh);
  useEffect(() => {
    latest.current = refresh;
  });
  useEffect(() => {
    if (atOnce && waiting !== 0) latest.current();
  }, [atOnce, waiting]);
}

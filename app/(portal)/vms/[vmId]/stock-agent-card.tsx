'use client';

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { Elapsed, RelativeTime } from '#app/_ui/time.tsx';
import { ageMs, type WireAccess } from './vm-data.ts';

export interface StockAgentCardProps {
  vmId: string;
  incarnation: number;
}

/** The stock agent of a VM: its progress and its certificates. */
export function StockAgentCard({ vmId, incarnation }: StockAgentCardProps) {
  const { t } = useTranslation(['enrollment', 'common']);
  const trpc = useTRPC();
  const access = useQuery({ ...trpc.vms.wireAccess.queryOptions({ vmId }), refetchInterval: ageMs });
  return (
    <Card aria-labelledby="stock-agent" className="mt-5">
      <CardHeader id="stock-agent" title={t('enrollment:stock.card')} note={t('enrollment:stock.card.note')} />
      {access.error && !access.data ? (
        <QueryError error={access.error} onRetry={access.refetch} at={new Date(access.errorUpdatedAt)} />
      ) : access.isPending ? (
        <CardBody>
          <FactsSkeleton label={t('common:loading')} />
        </CardBody>
      ) : (
        <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-3">
          {access.data.isOpen ? null : (
            <Banner boxed status="warning">
              {t('enrollment:stock.closed.now')}
            </Banner>
          )}
          {access.data.stock === null ? null : <Known stock={access.data.stock} incarnation={incarnation} />}
        </CardBody>
      )}
    </Card>
  );
}

const columns = 'grid grid-cols-[repeat(auto-fill,minmax(min(100%,280px),1fr))] gap-x-6 gap-y-2.5 text-12';

/** A placeholder with the height of the facts. */
function FactsSkeleton({ label }: { label: string }) {
  return (
    <div role="status" aria-busy="true" aria-label={label} className={columns}>
      {['agent', 'seen', 'settled', 'processing', 'container', 'transport', 'tenant', 'access'].map((fact) => (
        <div key={fact} className="grid h-[38px] content-center gap-2.5">
          <Skeleton className="w-28" />
          <Skeleton className="w-52 opacity-80" />
        </div>
      ))}
    </div>
  );
}

type Stock = NonNullable<WireAccess['stock']>;

function Known({ stock, incarnation }: { stock: Stock; incarnation: number }) {
  const { t } = useTranslation('enrollment');
  const unhealthy = stock.observations.filter(({ until }) => until === null);
  const { version, containerId, seen, settled, hold, transportCertificate, tenantCertificate } = stock;
  const isBehind = seen !== null && seen.incarnation < incarnation;
  const withheld =
    hold !== null && seen !== null && seen.at >= hold.at ? (
      <span className="text-ink-3"> {t('stock.seen.withheld')}</span>
    ) : null;
  const works = hold === null && seen !== null && (settled === null || settled.incarnation < seen.incarnation);
  const ago = (at: string) => ({ time: <RelativeTime value={new Date(at)} className="tabular-nums" /> });
  const since = (at: string) => ({ time: <Elapsed use="since" value={new Date(at)} className="tabular-nums" /> });
  return (
    <dl className={columns}>
      <Fact label={t('stock.version')}>
        {version === null ? t('stock.version.none') : <span translate="no">{`WALinuxAgent ${version}`}</span>}
      </Fact>
      <Fact label={t('stock.seen')}>
        {seen === null ? (
          t('stock.seen.none')
        ) : (
          <>
            <Trans text={t('stock.seen.at', { incarnation: seen.incarnation })} tags={ago(seen.at)} />
            {isBehind ? <span className="text-ink-3"> {t('stock.seen.newer', { incarnation })}</span> : null}
            {withheld}
          </>
        )}
      </Fact>
      <Fact label={t('stock.settled')}>
        {settled === null ? (
          t(works ? 'stock.settled.first' : 'stock.settled.none', { incarnation: seen?.incarnation ?? 0 })
        ) : (
          <>
            <Outcome settled={settled} />
            {settled.incarnation === seen?.incarnation ? withheld : null}
            {works ? (
              <span className="text-ink-3"> {t('stock.settled.works', { incarnation: seen?.incarnation ?? 0 })}</span>
            ) : null}
          </>
        )}
      </Fact>
      <Fact label={t('stock.processing')}>
        {hold === null ? (
          t('stock.processing.on')
        ) : (
          <Trans text={t('stock.processing.held', { who: hold.by })} tags={since(hold.at)} />
        )}
      </Fact>
      {unhealthy.length === 0 ? null : (
        <Fact label={t('stock.observed')}>
          {unhealthy.map((observation) => (
            <Observed key={observation.name} observation={observation} />
          ))}
        </Fact>
      )}
      <Fact label={t('stock.container')}>
        <Code>{containerId}</Code>
      </Fact>
      <Fact label={t('stock.transport')}>
        {transportCertificate === null ? (
          t('stock.transport.none')
        ) : (
          <>
            <Trans text={t('stock.transport.at')} tags={since(transportCertificate.seenAt)} />
            <Code>{transportCertificate.thumbprint}</Code>
          </>
        )}
      </Fact>
      <Fact label={t('stock.tenant')}>
        <Trans text={t('stock.tenant.at')} tags={ago(tenantCertificate.madeAt)} />
        <Code>{tenantCertificate.thumbprint}</Code>
      </Fact>
      <Fact label={t('stock.access')}>
        <Trans text={t('stock.access.at', { who: stock.grantedBy })} tags={ago(stock.grantedAt)} />
      </Fact>
    </dl>
  );
}

/** The agent reports `Success` even if a handler failed, so `Success` means done, not healthy. */
function Outcome({ settled }: { settled: NonNullable<Stock['settled']> }) {
  const { t } = useTranslation('enrollment');
  const failed = settled.status.toLowerCase() !== 'success';
  return (
    <span className="inline-flex flex-wrap items-baseline gap-x-1">
      {failed ? <StatusIcon status="failed" label={t('stock.settled.failed')} className="size-3 self-center" /> : null}
      <span>
        <Trans
          text={t(failed ? 'stock.settled.not' : 'stock.settled.at', { incarnation: settled.incarnation })}
          tags={{ time: <RelativeTime value={new Date(settled.at)} className="tabular-nums" /> }}
        />
      </span>
      {failed && settled.message ? (
        <span lang="" translate="no" className="text-ink-2 wrap-anywhere">
          {settled.message}
        </span>
      ) : null}
    </span>
  );
}

function Observed({ observation: { name, text, since } }: { observation: Stock['observations'][number] }) {
  const { t } = useTranslation('enrollment');
  return (
    <div className="mt-1 first:mt-0">
      <StatusIcon status="warning" className="me-1 inline size-3 align-[-0.1em]" />
      <span translate="no">{name}</span>
      {', '}
      <Trans
        text={t('stock.observed.at')}
        tags={{ time: <RelativeTime value={new Date(since)} className="tabular-nums" /> }}
      />
      {text === null ? null : (
        <span lang="" translate="no" className="block text-ink-2 wrap-anywhere">
          {text}
        </span>
      )}
    </div>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-ink-3">{label}</dt>
      <dd className="mt-0.5 wrap-anywhere">{children}</dd>
    </div>
  );
}

const Code = ({ children }: { children: string }) => (
  <code translate="no" className="mono-11 block text-ink-2 wrap-anywhere">
    {children}
  </code>
);

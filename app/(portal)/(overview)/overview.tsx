'use client';

import { useQuery } from '@tanstack/react-query';
import { Download, Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { ActsCard } from './acts-card.tsx';
import type { OverviewAnswers } from './answers.ts';
import { ChangesCard } from './changes-card.tsx';
import { DeadlinesCard } from './deadlines-card.tsx';
import { EmptyFleet } from './empty-fleet.tsx';
import { EventsCard } from './events-card.tsx';
import { FailingTogether } from './failing-together.tsx';
import { asideClass, gridClass } from './frame.ts';
import { type FirstMap, FleetMapCard } from './map/fleet-map-card.tsx';
import { Tiles } from './tiles.tsx';
import { useThrottledReload } from './use-throttled-reload.ts';

const EnrollDialog = dynamic(() => import('../vms/enroll-dialog.tsx').then((module) => module.EnrollDialog), {
  ssr: false,
});

export interface OverviewProps {
  /** The data that the server has loaded. The browser loads the rest. */
  first: {
    [Part in 'summary' | 'failing' | 'changes' | 'deadlines' | 'events' | 'acts']: OverviewAnswers[Part] | undefined;
  } & { map: FirstMap };
  gatewayUrl: string;
}

/** The fleet at a glance. Every card loads its own data, so that one failure leaves the others usable. */
export function Overview({ first, gatewayUrl }: OverviewProps) {
  const { t, i18n } = useTranslation(['overview', 'vms']);
  const trpc = useTRPC();
  const reader = useReader();
  const format = useFormat();
  const [enrolling, setEnrolling] = useState(false);
  const summary = useQuery({ ...trpc.overview.summary.queryOptions(), initialData: first.summary, enabled: false });
  useThrottledReload({ queryKey: trpc.overview.summary.queryKey(), refetch: summary.refetch, agesMs: 60_000 });
  const fleet = summary.data;
  const mayEnroll = reader.can('operator');
  const isEmpty = fleet?.vms === 0;
  const enroll = (
    <Button variant="primary" onClick={() => setEnrolling(true)}>
      <Plus aria-hidden />
      {t('vms:enroll')}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={t('overview:fleet')}
        note={
          fleet && !isEmpty ? (
            <span className="text-ink-3 tabular-nums">
              {t('overview:fleet.vms', { count: fleet.vms, shown: format.number(fleet.vms) })},{' '}
              {t('overview:fleet.extensions', { count: fleet.extensions, shown: format.number(fleet.extensions) })}
            </span>
          ) : undefined
        }
        actions={
          isEmpty ? undefined : (
            <>
              <Button asChild>
                <a href={`/download/vms.csv?lang=${i18n.language}`} download>
                  <Download aria-hidden />
                  {t('vms:export')}
                </a>
              </Button>
              {mayEnroll ? enroll : null}
            </>
          )
        }
      />
      {isEmpty ? (
        <EmptyFleet gatewayUrl={gatewayUrl} act={mayEnroll ? enroll : undefined} />
      ) : (
        <>
          {fleet ? (
            <Tiles summary={fleet} />
          ) : (
            <Card className="min-h-[98px]">
              {summary.error ? (
                <QueryError
                  title={t('overview:counts.failed')}
                  error={summary.error}
                  onRetry={summary.refetch}
                  at={new Date(summary.errorUpdatedAt)}
                />
              ) : null}
            </Card>
          )}
          <div className={gridClass}>
            <Card aria-labelledby="fleet-map">
              <FleetMapCard first={first.map} groupings={fleet?.groupings} vms={fleet?.vms} />
              <FailingTogether first={first.failing} />
            </Card>
            <div className={asideClass}>
              <DeadlinesCard first={first.deadlines} />
              <ChangesCard first={first.changes} />
              <EventsCard first={first.events} />
              <ActsCard first={first.acts} />
            </div>
          </div>
        </>
      )}
      {enrolling ? <EnrollDialog gatewayUrl={gatewayUrl} onClose={() => setEnrolling(false)} /> : null}
    </>
  );
}

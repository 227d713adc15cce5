'use client';

import { useQuery } from '@tanstack/react-query';
import { Download, Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { vmsAddress } from '#app/_lib/vms-address.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { PageHeader } from '#app/_ui/page-header.tsx';
import type { OverviewAnswers } from './answers.ts';
import { ChangesCard } from './changes-card.tsx';
import { DeadlinesCard } from './deadlines-card.tsx';
import { EventsCard } from './events-card.tsx';
import { FailingTogether } from './failing-together.tsx';
import { asideClass, gridClass } from './frame.ts';
import { type FirstMap, FleetMapCard } from './map/fleet-map-card.tsx';
import { Tiles } from './tiles.tsx';
import { useFirstSteps } from './use-first-steps.ts';

const EnrollDialog = dynamic(() => import('../vms/enroll-dialog.tsx').then((module) => module.EnrollDialog), {
  ssr: false,
});

/** Loaded on demand, since only new portals need it. The server renders it, so nothing moves when its script loads. */
const FirstSteps = dynamic(() => import('./first-steps.tsx').then((module) => module.FirstSteps));

/** At the end of the page. The server renders it, and its script follows the page's. */
const ActsCard = dynamic(() => import('./acts-card.tsx').then((module) => module.ActsCard));

export interface OverviewProps {
  /** The data that the server has loaded. The browser loads the rest. */
  first: {
    [Part in 'summary' | 'firstSteps' | 'failing' | 'changes' | 'deadlines' | 'events' | 'acts']:
      | OverviewAnswers[Part]
      | undefined;
  } & { map: FirstMap; rollouts: { needing: number } | undefined };
  gatewayUrl: string;
}

function FleetSize({ vms, extensions }: { vms: number; extensions: number }) {
  const { t } = useTranslation('overview');
  const format = useFormat();
  return (
    <Link
      href={vmsAddress()}
      prefetch={false}
      data-count={vms}
      title={t('fleet.extensions', { count: extensions, shown: format.number(extensions) })}
      className="rounded-xs text-ink-3 tabular-nums hover:underline"
    >
      {t('fleet.vms', { count: vms, shown: format.number(vms) })}
    </Link>
  );
}

/** The fleet at a glance. Every card loads its own data, so that one failure leaves the other cards usable. */
export function Overview({ first, gatewayUrl }: OverviewProps) {
  const { t, i18n } = useTranslation(['overview', 'vms']);
  const trpc = useTRPC();
  const reader = useReader();
  const [enrolling, setEnrolling] = useState(false);
  const summary = useQuery({ ...trpc.overview.summary.queryOptions(), initialData: first.summary, enabled: false });
  useThrottledReload({ queryKey: trpc.overview.summary.queryKey(), refetch: summary.refetch, agesMs: 60_000 });
  const fleet = summary.data;
  const mayEnroll = reader.can('operator');
  const isEmpty = fleet?.vms === 0;
  const steps = useFirstSteps(first.firstSteps, fleet?.vms);
  const isOnlySteps = isEmpty && steps !== null;
  const enroll = (
    <Button variant={steps === null ? 'primary' : 'default'} onClick={() => setEnrolling(true)}>
      <Plus aria-hidden />
      {t('vms:enroll')}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={t('overview:fleet')}
        note={fleet && !isEmpty ? <FleetSize vms={fleet.vms} extensions={fleet.extensions} /> : undefined}
        actions={
          isOnlySteps ? undefined : (
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
      {steps === null ? null : <FirstSteps steps={steps} onEnroll={() => setEnrolling(true)} />}
      {isOnlySteps ? null : (
        <>
          {fleet ? (
            <Tiles summary={fleet} rollouts={first.rollouts} />
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

import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, runtime } from '#app/_lib/portal.ts';
import { Page } from '#app/_shell/page.tsx';
import { openStates } from '#server/domain/rollout-rules/words.ts';
import { readGrouping } from './addresses.ts';
import { fewVms, tileRows } from './map/tiles.ts';
import { Overview } from './overview.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('overview');
  return { title: t('title') };
}

interface OverviewPageProps {
  searchParams: Promise<{ by?: string | string[] }>;
}

/** The state of the fleet. If a query fails on the server, its card retries it and reports the failure. */
export default async function OverviewPage({ searchParams }: OverviewPageProps) {
  const [{ t }, { overview, fleet, rollouts }, { by }] = await Promise.all([words('overview'), portal(), searchParams]);
  const groupBy = readGrouping([by].flat()[0]);
  const [summary, firstSteps, map, failing, changes, deadlines, events, acts, needing, open] = await Promise.all([
    orNothing(overview.summary()),
    orNothing(overview.firstSteps()),
    orNothing(overview.map(groupBy ? { groupBy } : {})),
    orNothing(overview.failing()),
    orNothing(overview.changes()),
    orNothing(overview.deadlines()),
    orNothing(overview.events()),
    orNothing(overview.acts()),
    orNothing(rollouts.countNeeding()),
    orNothing(rollouts.list({ state: [...openStates], limit: 20 })),
  ]);
  // A small fleet is shown as tiles. The server renders them, so that nothing moves when their script loads.
  const rows = summary && summary.vms < fewVms ? await orNothing(fleet.list(tileRows)) : undefined;
  return (
    <Page crumbs={[{ label: t('title') }]}>
      <Words namespaces={['overview', 'reports', 'vms', 'activity']}>
        <Overview
          first={{
            ...{
              summary,
              firstSteps,
              map: { groupBy, map, rows, rollouts: (open?.items ?? []).map(({ id, name }) => ({ id, name })) },
              failing,
              changes,
              deadlines,
              events,
              acts,
            },
            rollouts: needing,
          }}
          gatewayUrl={runtime().config.gatewayUrl}
        />
      </Words>
    </Page>
  );
}

async function orNothing<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  return asked.catch(() => undefined);
}

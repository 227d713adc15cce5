import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { readerZone } from '#app/_lib/reader-zone.ts';
import { Page } from '#app/_shell/page.tsx';
import { filterOfAddress } from './activity-address.ts';
import { ActivityPage } from './activity-page.tsx';
import { withRange } from './presets.ts';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('activity');
  return { title: t('title') };
}

/**
 * The activity page: who did what and what happened in the fleet, when and from where, the values before and after, and
 * whether the chain of the activity log is intact.
 */
export default async function ActivityRoute({
  searchParams,
}: {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}) {
  const { t } = await words('activity');
  const filter = filterOfAddress(await searchParams);
  const api = await portal();
  const [{ at: lastVisit }, timeZone] = await Promise.all([api.activity.lastVisit(), readerZone()]);
  const basis = { now: Date.now(), timeZone, lastVisit };
  const [first, facets, chain] = await Promise.all([
    api.activity.feed({
      ...withRange(filter, basis),
      limit: 50,
      ...(lastVisit !== null && { mark: lastVisit.toISOString() }),
    }),
    api.activity.facets({}),
    api.activity.chain(),
  ]);
  return (
    <Page crumbs={[{ label: t('title') }]}>
      <Words namespaces={['activity']}>
        <ActivityPage filter={filter} basis={basis} first={first} facets={facets} chain={chain} />
      </Words>
    </Page>
  );
}

import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { Page } from '#app/_shell/page.tsx';
import { BrokerBanner } from './broker-banner.tsx';
import { pageSize } from './execution-data.ts';
import { executionViews, filterOfAddress, queryOfFilter } from './executions-address.ts';
import { ExecutionsPage } from './executions-page.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('executions');
  return { title: t('title') };
}

interface Props {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

/** The executions of all VMs, newest first or counted by plan, with filters stored in the URL. */
export default async function ExecutionsRoute({ searchParams }: Props) {
  const { t } = await words('executions');
  const asked = await searchParams;
  const filter = filterOfAddress(asked);
  const view = executionViews.find((each) => each === asked.view) ?? 'list';
  const { executions } = await portal();
  const [first, conductor] = await Promise.all([
    executions.list({ ...queryOfFilter(filter), limit: pageSize }),
    executions.conductor(),
  ]);
  // If no VM depends on the connection, only admins need to know about its problems, and the settings show them.
  const notice = conductor !== null && conductor.boundVms > 0 ? <BrokerBanner report={conductor} /> : null;
  return (
    <Page crumbs={[{ label: t('title') }]}>
      <Words namespaces={['executions']}>
        <ExecutionsPage filter={filter} view={view} first={first} readAt={Date.now()} notice={notice} />
      </Words>
    </Page>
  );
}

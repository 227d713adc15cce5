import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, runtime } from '#app/_lib/portal.ts';
import { Page } from '#app/_shell/page.tsx';
import { AttentionView } from './attention-view.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('attention');
  return { title: t('title') };
}

interface AttentionPageProps {
  searchParams: Promise<{ problem?: string | string[] }>;
}

/** What is wrong in the fleet, grouped by cause: the place where an operator starts the day. */
export default async function AttentionPage({ searchParams }: AttentionPageProps) {
  const [{ t }, { attention }, { problem }] = await Promise.all([words('attention'), portal(), searchParams]);
  const first = await attention.list().catch(() => undefined);
  return (
    <Page crumbs={[{ label: t('title') }]}>
      <Words namespaces={['attention', 'overview', 'vms', 'reports', 'goal-states', 'enrollment', 'memberships']}>
        <AttentionView first={first} problem={[problem].flat()[0] ?? null} gatewayUrl={runtime().config.gatewayUrl} />
      </Words>
    </Page>
  );
}

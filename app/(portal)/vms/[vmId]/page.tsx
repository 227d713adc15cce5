import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { cache } from 'react';
import type { WordNamespace } from '#app/_lib/i18n/namespaces.ts';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, runtime } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { tabs, type VmTab } from './vm-data.ts';
import { VmPage } from './vm-page.tsx';

const namespaces = ['vms', 'reports', 'goal-states', 'enrollment', 'timeline', 'memberships'] as const;

/** Locale namespaces that only one view needs. */
const own: Partial<Record<VmTab, readonly WordNamespace[]>> = {
  activity: ['activity'],
  executions: ['executions'],
  // The queue on the overview has buttons that cancel executions.
  overview: ['executions'],
  output: ['outputs'],
};

interface Address {
  params: Promise<{ vmId: string }>;
  searchParams: Promise<{ tab?: string | string[]; at?: string | string[] }>;
}

export async function generateMetadata({ params }: Address): Promise<Metadata> {
  const { vmId } = await params;
  const { name } = await read(vmId);
  return { title: name };
}

/** The page of one VM: what is wrong, why, and what to do. */
export default async function VmRoute({ params, searchParams }: Address) {
  const { vmId } = await params;
  const { tab: wanted } = await searchParams;
  const tab = tabs.find((each) => each === wanted) ?? 'overview';
  const { t } = await words('vms');
  const facts = await read(vmId);
  const { instanceViews, rollouts, units } = await portal();
  const [view, queue, memberships, onVm] = await Promise.all([
    orNotFound(instanceViews.get({ vmId })),
    // If the queue cannot be read, its card says so; the rest of the page does not need the queue.
    tab === 'overview' ? instanceViews.queue({ vmId }).catch(() => undefined) : undefined,
    // The same holds for the rollouts of the VM.
    tab === 'overview' || tab === 'activity' ? rollouts.ofVm({ vmId }).catch(() => undefined) : undefined,
    // Only machines of models have units.
    tab === 'overview' && facts.role !== null ? units.ofVm({ vmId }).catch(() => undefined) : undefined,
  ]);
  return (
    <Page
      crumbs={[
        { label: t('title'), href: '/vms' },
        { label: facts.name, isName: true },
      ]}
    >
      <Words namespaces={[...namespaces, ...(own[tab] ?? [])]}>
        <VmPage
          vmId={vmId}
          tab={tab}
          facts={facts}
          view={view}
          queue={queue}
          memberships={memberships}
          units={onVm}
          readAt={Date.now()}
          gatewayUrl={runtime().config.gatewayUrl}
        />
      </Words>
    </Page>
  );
}

const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** An invalid id is treated like an unknown VM. */
const read = cache(async (vmId: string) => {
  if (!idForm.test(vmId)) notFound();
  return orNotFound((await portal()).vms.get({ vmId }));
});

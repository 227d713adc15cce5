'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { problemOf } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { TabLinks } from '#app/_ui/tab-links.tsx';
import { Overview } from './overview.tsx';
import { useRetry } from './retry/use-retry.ts';
import type { ReadMemberships } from './rollouts/memberships.ts';
import type { VmUnits } from './units/hook-entries.ts';
import { useVmUnits } from './units/use-vm-units.ts';
import { useVmCommands } from './use-vm-commands.ts';
import {
  ageMs,
  canHaveUnits,
  type InstanceDetails,
  type QueueDetails,
  tabHref,
  tabs,
  tabsId,
  type VmFacts,
  type VmTab,
} from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';
import { VmHeader } from './vm-header.tsx';

const loading = () => <PanelLoading />;
const GoalStateTab = dynamic(() => import('./goal-states/goal-state-tab.tsx').then((module) => module.GoalStateTab), {
  loading,
});
const QueueTab = dynamic(() => import('./queue/queue-tab.tsx').then((module) => module.QueueTab), { loading });
const ExecutionsTab = dynamic(() => import('./executions/executions-tab.tsx').then((module) => module.ExecutionsTab), {
  loading,
});
const OutputTab = dynamic(() => import('./output/output-tab.tsx').then((module) => module.OutputTab), { loading });
const DocumentsTab = dynamic(() => import('./documents/documents-tab.tsx').then((module) => module.DocumentsTab), {
  loading,
});

/** Loaded on demand, since few VMs need them. The server renders them, so nothing moves when their script loads. */
const VmBanners = dynamic(() => import('./vm-banners.tsx').then((module) => module.VmBanners));
const OperatorsOnly = dynamic(() => import('./operators-only.tsx').then((module) => module.OperatorsOnly), { loading });
const VmGone = dynamic(() => import('./vm-gone.tsx').then((module) => module.VmGone), { loading });

/** Loads the script of a dialog when the dialog opens. */
const VmDialogs = dynamic(() => import('./vm-dialogs.tsx').then((module) => module.VmDialogs), { ssr: false });

const PastRollouts = dynamic(() => import('./rollouts/past-rollouts.tsx').then((module) => module.PastRollouts));
const ActivityList = dynamic(
  () => import('#app/(portal)/activity/activity-list.tsx').then((module) => module.ActivityList),
  {
    loading,
  },
);

function PanelLoading() {
  const { t } = useTranslation('common');
  return <SkeletonRows columns={['w-40', 'w-64']} rows={6} label={t('loading')} />;
}

/** Whether to load and show `VmBanners`. */
const hasNews = ({ decommissioning, needsRelease }: VmFacts, { agent, pendingRestart }: InstanceDetails): boolean =>
  decommissioning ||
  needsRelease ||
  pendingRestart !== null ||
  agent.hold !== null ||
  agent.duplicateSeenAt !== null ||
  agent.refusals.length > 0 ||
  ['unresponsive', 'unknown'].includes(agent.status);

export interface VmPageProps {
  vmId: string;
  tab: VmTab;
  /** The data that the server rendered for this URL at `readAt` (milliseconds since 1970). */
  facts: VmFacts;
  view: InstanceDetails;
  /** Undefined outside the overview, or if the server could not read the queue; the overview then loads it. */
  queue: QueueDetails | undefined;
  /** The rollouts of the VM; undefined in views that do not show them, or if the server could not read them. */
  memberships: ReadMemberships['data'] | undefined;
  /** The units of the VM; undefined in views that do not show them, or if the server could not read them. */
  units: VmUnits | undefined;
  readAt: number;
  gatewayUrl: string;
}

/** Shows a VM with live data: the header that all views share, and the view that the URL selects. */
export function VmPage({ vmId, tab, facts: firstFacts, view: firstView, readAt, gatewayUrl, ...read }: VmPageProps) {
  const { t } = useTranslation('vms');
  const trpc = useTRPC();
  const reader = useReader();
  const [act, setAct] = useState<VmAct | null>(null);
  const retry = useRetry(vmId);
  const first = { initialDataUpdatedAt: readAt, refetchInterval: ageMs };
  const factsQuery = useQuery({ ...trpc.vms.get.queryOptions({ vmId }), initialData: firstFacts, ...first });
  const viewQuery = useQuery({ ...trpc.instanceViews.get.queryOptions({ vmId }), initialData: firstView, ...first });
  const facts = factsQuery.data;
  const view = viewQuery.data;
  const at = new Date(viewQuery.dataUpdatedAt);
  useVmCommands(view, retry, setAct);
  const queue = read.queue && { data: read.queue, readAt };
  const memberships = read.memberships && { data: read.memberships, readAt };
  const hasUnits = canHaveUnits(facts, view) && tab === 'overview';
  // The cards of the overview use the same query.
  useVmUnits(vmId, hasUnits, read.units && { data: read.units, readAt });
  if ([factsQuery.error, viewQuery.error].some((error) => error && problemOf(error).status === 404)) {
    return <VmGone name={facts.name} />;
  }
  const outputs = view.extensions.filter(({ handlerState }) => handlerState?.outputTail).length;
  const mayRead = reader.can('operator');
  const counts: Partial<Record<VmTab, number>> = { 'goal-state': view.incarnation, output: outputs };
  const links = tabs.map((id) => ({
    href: tabHref(vmId, id),
    label: t(`vm.tab.${id}`),
    count: counts[id] || undefined,
    current: id === tab,
  }));
  return (
    <>
      <VmHeader facts={facts} view={view} onAct={setAct} />
      <TabLinks id={tabsId} label={t('vm.tabs', { name: facts.name })} tabs={links} />
      {hasNews(facts, view) ? <VmBanners facts={facts} view={view} onAct={setAct} /> : null}
      {tab === 'overview' ? (
        <Overview
          facts={facts}
          view={view}
          queue={queue}
          memberships={memberships}
          at={at}
          gatewayUrl={gatewayUrl}
          retry={retry}
          onAct={setAct}
        />
      ) : tab === 'queue' ? (
        <QueueTab vmId={vmId} isSilent={view.agent.status === 'unresponsive'} />
      ) : tab === 'executions' ? (
        <ExecutionsTab vmId={vmId} name={facts.name} />
      ) : tab === 'activity' ? (
        <>
          <PastRollouts vmId={vmId} first={memberships} />
          <ActivityList filter={{ vmId }} />
        </>
      ) : mayRead ? (
        <>
          {tab === 'goal-state' ? <GoalStateTab vmId={vmId} onAct={setAct} /> : null}
          {tab === 'output' ? <OutputTab view={view} agentKind={facts.agentKind} /> : null}
          {tab === 'documents' ? <DocumentsTab vmId={vmId} view={view} /> : null}
        </>
      ) : (
        <OperatorsOnly />
      )}
      {act === null ? null : (
        <VmDialogs act={act} facts={facts} view={view} gatewayUrl={gatewayUrl} onClose={() => setAct(null)} />
      )}
    </>
  );
}

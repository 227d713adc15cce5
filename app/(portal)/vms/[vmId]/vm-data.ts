import type { inferRouterOutputs } from '@trpc/server';
import type { StatusName } from '#app/_ui/status-icon.tsx';
import type { PastGoalState } from '#server/domain/goal-states/index.ts';
import type { AppRouter } from '#server/trpc/root.ts';

export type {
  GoalStateChange,
  GoalStateComparison,
  PastChange,
  PastGoalState,
} from '#server/domain/goal-states/index.ts';
export type { OutputDetails } from '#server/domain/logs/index.ts';
export type { PastReport } from '#server/domain/reports/index.ts';
export type { WireAccess } from '#server/domain/stock-agents/index.ts';
export type { Explanation, Sentence } from '#server/domain/verdicts/index.ts';

import type { VmFacts } from '#server/domain/views/index.ts';

export type { Timeline } from '#server/domain/views/index.ts';
export type { VmFacts };

type Outputs = inferRouterOutputs<AppRouter>;

/** An instance view in which faults are sentences in the reader's language. */
export type InstanceDetails = Outputs['instanceViews']['get'];

/** A queue in which reasons are sentences in the reader's language. */
export type QueueDetails = Outputs['instanceViews']['queue'];
export type QueueLine = QueueDetails['next'][number];

/** A plan in which warnings and faults are sentences in the reader's language. */
export type GoalStatePlan = Outputs['goalStates']['planRevert'];

export type Extension = InstanceDetails['extensions'][number];
export type ReportedMessage = NonNullable<NonNullable<Extension['status']>['message']>;
export type Substatus = NonNullable<Extension['status']>['substatus'][number];
export type CommandOutput = Outputs['outputs']['list']['items'][number];
export type OutputLines = Outputs['outputs']['read'];
export type LogArchive = Outputs['outputs']['archives']['items'][number];
export type PastExtension = PastGoalState['extensions'][number];

/** Interval in milliseconds at which health is reloaded, because time alone can change it. */
export const ageMs = 10_000;

export const tabs = ['overview', 'queue', 'executions', 'goal-state', 'output', 'documents', 'activity'] as const;
export type VmTab = (typeof tabs)[number];

/** The element id of the tabs. */
export const tabsId = 'vm-tabs';

/** Returns the URL of a view of a VM, optionally with a fragment for one extension. */
export function tabHref(vmId: string, tab: VmTab, about?: string): string {
  const query = tab === 'overview' ? '' : `?tab=${tab}`;
  return `/vms/${vmId}${query}${about === undefined ? '' : `#${tab}-${about}`}`;
}

export const editHref = (vmId: string, name: string): string => `/vms/${vmId}/extensions/${encodeURIComponent(name)}`;

/** The icon of each status that handlers report. */
export const statusOfWord: Readonly<Record<Substatus['status'], StatusName>> = {
  success: 'healthy',
  error: 'failed',
  warning: 'warning',
  transitioning: 'progressing',
};

/** Whether a VM can have units: it belongs to a model, or a unit is a cause of its health. */
export const canHaveUnits = ({ role }: Pick<VmFacts, 'role'>, { units }: Pick<InstanceDetails, 'units'>): boolean =>
  role !== null || units !== null;

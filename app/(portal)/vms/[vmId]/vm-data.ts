import type { inferRouterOutputs } from '@trpc/server';
import type { StatusName } from '#app/_ui/status-icon.tsx';
import type { AppRouter } from '#server/trpc/root.ts';

type Outputs = inferRouterOutputs<AppRouter>;

export type VmFacts = Outputs['vms']['get'];
export type WireAccess = Outputs['vms']['wireAccess'];
export type InstanceView = Outputs['instanceViews']['get'];
export type Extension = InstanceView['extensions'][number];
export type Explanation = NonNullable<InstanceView['explanation']>;
export type Sentence = Explanation['lead'];
export type Said = NonNullable<NonNullable<Extension['status']>['message']>;
export type Substatus = NonNullable<Extension['status']>['substatus'][number];
export type Timeline = Outputs['instanceViews']['timeline'];
export type PastGoalState = Outputs['goalStates']['list']['items'][number];
export type PastChange = Outputs['goalStates']['changes']['items'][number];
export type GoalStateChange = PastChange['changes'][number];
export type GoalStateComparison = Outputs['goalStates']['compare'];
export type PastReport = Outputs['instanceViews']['history']['items'][number];
export type CommandOutput = Outputs['outputs']['list']['items'][number];
export type OutputDetails = Outputs['outputs']['get'];
export type OutputLines = Outputs['outputs']['read'];
export type LogArchive = Outputs['outputs']['archives']['items'][number];
export type PastExtension = PastGoalState['extensions'][number];

/** Health and verdicts age while nobody writes anything, so they are read again now and then, too. */
export const ageMs = 10_000;

export const tabs = ['overview', 'goal-state', 'output', 'documents', 'activity'] as const;
export type VmTab = (typeof tabs)[number];

/** The address of a view of a VM; of one extension's part of it. */
export function tabHref(vmId: string, tab: VmTab, about?: string): string {
  const query = tab === 'overview' ? '' : `?tab=${tab}`;
  return `/vms/${vmId}${query}${about === undefined ? '' : `#${tab}-${about}`}`;
}

export const editHref = (vmId: string, name: string): string => `/vms/${vmId}/extensions/${encodeURIComponent(name)}`;

/** The drawing of a status word, as a handler reports it. */
export const statusOfWord: Readonly<Record<Substatus['status'], StatusName>> = {
  success: 'healthy',
  error: 'failed',
  warning: 'warning',
  transitioning: 'progressing',
};

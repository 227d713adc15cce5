import type { inferRouterOutputs } from '@trpc/server';
import type { StatusName } from '#app/_ui/status-icon.tsx';
import {
  decidedSteps,
  endedStates,
  type MemberCount,
  type RingState,
  type RolloutState,
  type StepState,
} from '#server/domain/rollout-rules/words.ts';
import type { AppRouter } from '#server/trpc/root.ts';

type Outputs = inferRouterOutputs<AppRouter>['rollouts'];

export type ListedRollout = Outputs['list']['items'][number];
export type RolloutPage = Outputs['list'];
export type ShownRollout = Outputs['get'];
export type ShownRing = ShownRollout['rings'][number];
export type ShownReason = ListedRollout['why'][number];
export type ShownVerdict = ShownRing['verdicts'][number];
export type ShownCause = Outputs['causes']['items'][number];
export type ShownStep = Outputs['steps']['items'][number];
export type ShownCounts = ListedRollout['counts'];
export type ShownCells = Outputs['cells'];

/** Number of rollouts on one page of the list. */
export const pageSize = 50;

/** Returns the address of a rollout's page. */
export const rolloutHref = (id: string): string => `/rollouts/${id}`;

/** Returns the address of the failed VMs of a rollout. */
export const failedHref = (id: string): string => `/rollouts/${id}?state=failed`;

/** The icon of each state of a rollout. */
export const statusOfState: Readonly<Record<RolloutState, StatusName>> = {
  draft: 'unknown',
  planning: 'progressing',
  planned: 'waiting',
  checking: 'progressing',
  scheduled: 'waiting',
  running: 'progressing',
  paused: 'warning',
  keeping: 'waiting',
  aborting: 'progressing',
  aborted: 'disabled',
  finished: 'healthy',
};

/** The icon of each state of a ring. */
export const statusOfRing: Readonly<Record<RingState, StatusName>> = {
  waiting: 'waiting',
  open: 'progressing',
  baking: 'waiting',
  passed: 'healthy',
  halted: 'failed',
};

/** The icon of each state of a step; the counts have the same words. */
export const statusOfStep: Readonly<Record<StepState | MemberCount, StatusName>> = {
  queued: 'waiting',
  recalled: 'waiting',
  parked: 'unresponsive',
  inFlight: 'progressing',
  soaking: 'progressing',
  retrying: 'progressing',
  reverting: 'progressing',
  succeeded: 'healthy',
  failed: 'failed',
  reverted: 'warning',
  stuck: 'failed',
  overtaken: 'disabled',
  skipped: 'disabled',
  gone: 'disabled',
  unreached: 'unknown',
};

export const hasEnded = ({ state }: Pick<ListedRollout, 'state'>): boolean =>
  (endedStates as readonly string[]).includes(state);

/** Returns how many members are decided; for gates, a reverted step has failed. */
export const decidedOf = (counts: ShownCounts): number =>
  decidedSteps.reduce((sum, state) => sum + (state === 'stuck' ? 0 : counts[state]), 0);

/** Returns how many members no gate counts. */
export const exemptOf = ({ parked, skipped, overtaken, gone, unreached }: ShownCounts): number =>
  parked + skipped + overtaken + gone + unreached;

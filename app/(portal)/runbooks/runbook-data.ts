import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

type Outputs = inferRouterOutputs<AppRouter>['runbooks'];

/** The runbooks of the list. */
export type RunbookList = Outputs['list'];
export type ListedRunbook = RunbookList['items'][number];
/** A runbook with its versions. */
export type Runbook = Outputs['get'];
export type RunbookVersion = Runbook['versions'][number];
/** A version with its plan. */
export type ShownRunbookVersion = Outputs['version'];
export type ShownRuns = Runbook['runs'];

/** Returns the URL of a runbook; with `version`, of this version. */
export const runbookHref = (name: string, version?: string): string =>
  `/runbooks/${encodeURIComponent(name)}${version === undefined ? '' : `?version=${encodeURIComponent(version)}`}`;

/** Returns the URL of the editor; with `version`, it edits this version instead of starting a new one. */
export const editHref = (name: string, version?: string): string =>
  `/runbooks/${encodeURIComponent(name)}/edit${version === undefined ? '' : `?version=${encodeURIComponent(version)}`}`;

/** Returns the URL of the page that runs a runbook on a VM. */
export function runHref(vmId: string, runbook?: { name: string; version?: string | undefined; from?: string }): string {
  const query = new URLSearchParams();
  if (runbook !== undefined) {
    query.set('runbook', runbook.name);
    if (runbook.version !== undefined) query.set('version', runbook.version);
    if (runbook.from !== undefined) query.set('from', runbook.from);
  }
  return `/vms/${vmId}/executions/run${query.size === 0 ? '' : `?${query}`}`;
}

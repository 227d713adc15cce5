import type { inferRouterOutputs } from '@trpc/server';
import type { StatusName } from '#app/_ui/status-icon.tsx';
import { parseUnitName } from '#protocol/unit-names.ts';
import type { AppRouter } from '#server/trpc/root.ts';

type Outputs = inferRouterOutputs<AppRouter>['units'];

export type ShownUnitDetails = Outputs['get'];
export type ShownFailure = ShownUnitDetails['failing'][number];
export type ShownDue = Outputs['due']['items'][number];
export type RelationOfUnit = Outputs['relations']['items'][number];
export type ShownRun = Outputs['runs']['items'][number];
export type RunsPage = Outputs['runs'];
export type ShownRunDetails = Outputs['run'];
export type CauseOfHook = ShownRunDetails['causes'][number];
export type MachineRows = inferRouterOutputs<AppRouter>['fleet']['rows'];
export type UnitMachine = MachineRows['items'][number];
export type UnitInstance = NonNullable<inferRouterOutputs<AppRouter>['models']['instances']['instances'][number]>;

/** Names a unit for the calls of its page. Changes of the VM reload them. */
export interface NamedUnit {
  model: string;
  unit: string;
  vmId: string;
}

/** Returns the unit that an address names, such as `wordpress/1` for `wordpress-1`; null if it names none. */
export function unitInAddress(part: string): string | null {
  const at = part.lastIndexOf('-');
  const name = `${part.slice(0, at)}/${part.slice(at + 1)}`;
  return at > 0 && parseUnitName(name) !== null ? name : null;
}

/** The icon of each outcome of a run. */
export const statusOfOutcome: Readonly<Record<ShownRun['outcome'], StatusName>> = {
  running: 'progressing',
  succeeded: 'healthy',
  failed: 'failed',
  'timed-out': 'failed',
  refused: 'failed',
  interrupted: 'disabled',
  skipped: 'warning',
};

/** What the server read for the page of a unit; undefined where it could not read a part. */
export interface UnitParts {
  due: { items: ShownDue[] } | undefined;
  relations: { items: RelationOfUnit[] } | undefined;
  runs: RunsPage | undefined;
  /** The run that is shown first. */
  run: ShownRunDetails | undefined;
  /** The run that failed, if the unit fails. */
  failed: ShownRunDetails | undefined;
  machine: MachineRows | undefined;
  instance: UnitInstance | undefined;
}

/** Number of runs on one page of the list. */
export const runsPageSize = 50;

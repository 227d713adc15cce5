import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';
import type { AddedMachine } from '../../model-data.ts';

type Outputs = inferRouterOutputs<AppRouter>['models'];

export type ShownModelDocument = Outputs['document'];
export type ShownPlan = Outputs['planDocument'];
export type ShownPlanAct = ShownPlan['acts'][number];
type ShownHook = ShownPlan['hooks'][number]['hooks'][number];
type Applied = Outputs['applyDocument'];

/** Returns a document as the text of the editor. */
export const textOf = (document: ShownModelDocument['document']): string => `${JSON.stringify(document, null, 2)}\n`;

/** Reads the text of the editor; null if it is not valid JSON. */
export function readText(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

/** Returns the number of changes that applying a plan makes. */
export function countChanges({ acts, left, prune }: ShownPlan): number {
  const { services, units, relations, machines } = left;
  const removed = services.length + units.length + relations.length + machines.length;
  return acts.length + (prune ? removed : 0);
}

/** Whether a document leaves out anything that the model has. */
export const leavesOut = ({ left }: ShownPlan): boolean => Object.values(left).some(({ length }) => length > 0);

/** Units that run the same hooks. `count`: how many hooks each of them runs. */
export interface HookGroup {
  units: string[];
  hooks: readonly ShownHook[];
  count: number;
}

/** Groups units that run the same hooks for the same reasons, in the order of the first of them. */
export function groupHooks(hooks: ShownPlan['hooks']): HookGroup[] {
  const groups = Map.groupBy(hooks, (one) => JSON.stringify(one.hooks));
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    return [{ units: same.map(({ unit }) => unit), hooks: first.hooks, count: countHooks(first.hooks) }];
  });
}

const countHooks = (hooks: readonly ShownHook[]): number => hooks.reduce((sum, { count }) => sum + count, 0);

/** Returns how many hooks a plan would run, without those that are due anyway. */
export const countNewHooks = ({ hooks }: ShownPlan): number =>
  hooks.reduce((sum, unit) => sum + countHooks(unit.hooks.filter(({ when }) => when !== 'already')), 0);

/** Returns the machines that an apply created. */
export const machinesOf = ({ newMachines, newUnits }: Applied): AddedMachine[] => [
  ...newMachines,
  ...newUnits.flatMap(({ machine }) => machine ?? []),
];

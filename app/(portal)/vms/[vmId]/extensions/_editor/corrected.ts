import { pointerPath } from '#protocol/pointer.ts';
import type { SetExtensionInput } from '#server/domain/goal-states/input.ts';
import { canonical, type Goal } from './draft.ts';

/** The declaration that a plan is for. */
export interface PlanSubject {
  name: string;
  goal: Goal;
  changes: SetExtensionInput['changes'];
}

/**
 * Whether the value at the path of an error has changed since the portal reported the error. The error may then no
 * longer apply, so it is hidden until the next plan.
 */
export function isCorrected(path: string, before: PlanSubject, now: PlanSubject): boolean {
  const at = pointerPath(path);
  const [part, half, setting] = at;
  if (part === undefined || part === 'siblings') return false;
  if (part === 'name') return before.name !== now.name;
  const read = half === 'protectedSettings' ? protectedAt(setting) : ({ goal }: PlanSubject) => valueAt(goal, at);
  return canonical(read(before) ?? null) !== canonical(read(now) ?? null);
}

/** Returns a function that reads what a declaration says about one protected setting or, without a name, about all. */
const protectedAt =
  (name: string | undefined) =>
  ({ goal, changes }: PlanSubject): unknown => {
    const whole = goal.settings?.protectedSettings;
    if (name === undefined) return [whole ?? null, changes ?? null];
    return [valueAt(whole, [name]) ?? null, changes?.set?.[name] ?? null, changes?.remove?.includes(name) ?? false];
  };

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, part) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, part)
        ? (at as Record<string, unknown>)[part]
        : undefined,
    value,
  );
}

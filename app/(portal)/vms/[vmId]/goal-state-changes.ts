import type { ParseKeys } from 'i18next';
import type { PastExtension, PastGoalState } from './vm-data.ts';

/** One difference between two goal states, as a sentence of `locales/…/goal-states.json`. */
export interface GoalStateChange {
  key: Extract<ParseKeys<'goal-states'>, `change.${string}`>;
  values: { name: string; from: string; to: string };
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What differs, extension by extension. Secrets cannot be read: a new sequence number with nothing else is theirs. */
export function changesBetween(
  before: readonly PastExtension[],
  after: readonly PastExtension[],
): readonly GoalStateChange[] {
  const changes: GoalStateChange[] = [];
  for (const extension of after) {
    const old = before.find(({ name }) => name === extension.name);
    const { name, version: to } = extension;
    const note = (key: GoalStateChange['key']) => changes.push({ key, values: { name, from: old?.version ?? '', to } });
    if (old === undefined) {
      note('change.added');
      continue;
    }
    const count = changes.length;
    if (old.state !== extension.state) note(`change.${extension.state}`);
    if (extension.state === 'uninstall') continue;
    if (old.version !== to) note('change.version');
    if (!same(old.publicSettings, extension.publicSettings)) note('change.settings');
    if (!same(old.dependsOn, extension.dependsOn)) note('change.dependencies');
    if (!same(old.timeouts, extension.timeouts)) note('change.timeouts');
    const silent = changes.length === count && old.sequenceNumber !== extension.sequenceNumber;
    if (silent || old.hasProtectedSettings !== extension.hasProtectedSettings) note('change.secrets');
    else if (old.autoUpgradeMinorVersion !== extension.autoUpgradeMinorVersion) note('change.policy');
  }
  for (const { name, version } of before) {
    if (after.some((extension) => extension.name === name)) continue;
    changes.push({ key: 'change.removed', values: { name, from: version, to: '' } });
  }
  return changes;
}

/**
 * The newest goal state before the one in which an extension got what it has now; null where there is none that had
 * it enabled. `newestFirst` may be cut off.
 */
export function revertTarget(newestFirst: readonly PastGoalState[], name: string): number | null {
  const of = (state: PastGoalState | undefined) => state?.extensions.find((extension) => extension.name === name);
  const now = of(newestFirst[0]);
  if (now === undefined) return null;
  const earlier = newestFirst.find((state) => {
    const then = of(state);
    return then === undefined || then.sequenceNumber !== now.sequenceNumber;
  });
  return earlier && of(earlier)?.state === 'enabled' ? earlier.incarnation : null;
}

/** A goal state as text to read and to compare: extensions by name, in their order. */
export function readable(extensions: readonly PastExtension[]): string {
  const byName = Object.fromEntries(extensions.map(({ name, ...extension }) => [name, extension]));
  return JSON.stringify(byName, null, 2);
}

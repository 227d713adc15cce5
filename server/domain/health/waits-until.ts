import type { ExtensionGoal } from '#db/schema/index.ts';
import { deadlineOf } from '#server/domain/reports/index.ts';

/** What is known of an extension that others may depend on. */
interface Dependency {
  name: string;
  goal: ExtensionGoal;
  goalSequenceNumber: number;
  dependsOn: string[];
  timeouts: Parameters<typeof deadlineOf>[0]['timeouts'];
  commands: Parameters<typeof deadlineOf>[0]['commands'];
  changedAt: Date;
  deliveredAt: Date | null;
  statusSequence: number | null;
  concludedAt: Date | null;
}

/**
 * The moment until which each extension of a VM may wait for those that it depends on: when the last of them concluded,
 * or must have. Its own deadline counts from then on, so that who depends on something slow is not called late for it.
 * Null where it waits for none; what is to be disabled or uninstalled never does.
 */
export function waitsUntil(extensions: readonly Dependency[]): Map<string, Date | null> {
  const byName = new Map(extensions.map((extension) => [extension.name, extension]));
  const known = new Map<string, Date | null>();
  const wait = (extension: Dependency, passed: readonly string[]): Date | null => {
    const before = known.get(extension.name);
    if (before !== undefined) return before;
    let latest: Date | null = null;
    for (const name of extension.goal === 'enabled' ? extension.dependsOn : []) {
      const other = byName.get(name);
      if (other === undefined || passed.includes(name)) continue;
      const isConcluded = other.concludedAt !== null && other.statusSequence === other.goalSequenceNumber;
      const until: Date = isConcluded
        ? (other.concludedAt ?? other.changedAt)
        : deadlineOf({ ...other, state: other.goal, waitsUntil: wait(other, [...passed, extension.name]) });
      if (latest === null || until > latest) latest = until;
    }
    known.set(extension.name, latest);
    return latest;
  };
  for (const extension of extensions) wait(extension, []);
  return known;
}

/** The extensions of one VM, each with that moment. */
export function withWaits<E extends Dependency>(extensions: readonly E[]): (E & { waitsUntil: Date | null })[] {
  const waits = extensions.some(({ dependsOn }) => dependsOn.length > 0) ? waitsUntil(extensions) : null;
  return extensions.map((extension) => ({ ...extension, waitsUntil: waits?.get(extension.name) ?? null }));
}

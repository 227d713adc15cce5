import type { ShownService } from './service-data.ts';

type Failing = ShownService['units'][number]['failing'][number];

/** The same failure of a hook on one or more units of a formula. */
export interface FailingGroup {
  key: string;
  formula: string;
  hook: string;
  reason: Failing['reason'];
  outcome: Failing['outcome'];
  exitCode: number | null;
  /** The highest number of attempts on one of the units. */
  failures: number;
  /** Since when the first of the units fails. */
  since: string;
  units: { unit: string; service: string; run: string; remoteUnit: string | null; isRetried: boolean }[];
}

/** A service with the hooks that fail on its units. */
export interface ServiceThatFails extends Pick<ShownService, 'name' | 'formula'> {
  units: readonly Pick<ShownService['units'][number], 'unit' | 'failing'>[];
}

/** Groups failing hooks by formula, hook and reason. The group with the most units comes first. */
export function failingGroups(services: readonly ServiceThatFails[]): FailingGroup[] {
  const groups = new Map<string, FailingGroup>();
  for (const { name, formula, units } of services) {
    for (const { unit, failing } of units) {
      for (const { hook, outcome, exitCode, reason, failures, since, run, remoteUnit, resolution } of failing) {
        const key = JSON.stringify([formula, hook, outcome, exitCode, reason?.text ?? null]);
        const group = groups.get(key) ?? {
          ...{ key, formula, hook, reason, outcome, exitCode, failures, since },
          units: [],
        };
        group.failures = Math.max(group.failures, failures);
        if (since < group.since) group.since = since;
        group.units.push({ unit, service: name, run, remoteUnit, isRetried: resolution === 'retry' });
        groups.set(key, group);
      }
    }
  }
  return [...groups.values()].sort((a, b) => b.units.length - a.units.length || (a.since < b.since ? -1 : 1));
}

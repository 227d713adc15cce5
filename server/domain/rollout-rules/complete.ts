import type { Definition, Strategy } from './stored.ts';

/** Returns the definition with every default filled in, and the faults that only show then. */
export function completeDefinition(
  input: { strategy?: string | undefined; select: object; change: object; startAt?: string | null | undefined },
  strategy: Strategy,
): { definition: Definition; faults: { path: string; code: string; params?: Record<string, string | number> }[] } {
  const change = {
    ...{ handler: null, extension: null, version: null, state: null, autoUpgradeMinorVersion: null, dependsOn: null },
    ...{ timeouts: null, publicSettings: null, protectedSettings: null, onAbsent: 'skip', allowLower: false, asOf: null },
    ...input.change,
  };
  const definition = {
    ...strategy,
    ...{ strategy: input.strategy ?? 'careful', select: input.select, change, windows: [], keepDays: 14 },
    ...{ availabilitySets: 'respect', maxMovedShare: null, noProgressSeconds: 86_400, stepsPerSecond: null },
    startAt: input.startAt ?? null,
  };
  return { definition: definition as unknown as Definition, faults: [] };
}

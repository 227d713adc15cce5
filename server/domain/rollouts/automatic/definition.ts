import type { Definition, RolloutChange, Strategy } from '#server/domain/rollout-rules/stored.ts';
import { definitionDefaults } from '#server/domain/rollout-rules/strategies.ts';

/** Returns the change of an automatic upgrade: only the version of the handler's extensions. */
export const upgradeTo = (handler: string, version: string): RolloutChange => ({
  kind: 'set',
  ...{ handler, extension: null, version, state: null },
  ...{ autoUpgradeMinorVersion: null, dependsOn: null, timeouts: null },
  ...{ publicSettings: null, protectedSettings: null },
  ...{ onAbsent: 'skip', allowLower: false, asOf: null },
});

/** Returns the definition of the automatic rollout of a version. Later matches always join. */
export const automaticDefinition = (
  handler: string,
  version: string,
  { name, strategy }: { name: string; strategy: Strategy },
): Definition => ({
  ...strategy,
  ...definitionDefaults,
  strategy: name,
  select: { include: { handler } },
  change: upgradeTo(handler, version),
  windows: [],
  newcomers: 'include',
  // Each member is evaluated at its step, and others join, so a moving fleet does not delay the start.
  maxMovedShare: 10_000,
  stepsPerSecond: null,
  startAt: null,
});

import { hookSeconds } from '#protocol/formula-words.ts';
import type { UnitGoal, UnitRelation } from '#protocol/unit-state.ts';
import { needsRelease } from '../release/needs-release.ts';
import type { UnitFacts } from './read-units.ts';

/** Returns a unit's goal as the agent gets it. */
export function goalOf(unit: UnitFacts, relations: readonly UnitRelation[]): UnitGoal {
  const { manifest, sha256 } = unit;
  const resolutions = unit.resolutions.map(({ run, how }) => ({ run, how }));
  return {
    unit: unit.name,
    model: unit.model,
    turn: unit.turn,
    goal: unit.life === 'dying' ? 'leaving' : 'alive',
    serviceExposed: unit.exposed,
    formula: {
      id: unit.formula,
      name: manifest.name,
      version: unit.formulaVersion,
      hooks: manifest.hooks,
      package: { sha256, size: unit.size, url: `/agent/v1/packages/${sha256}` },
    },
    settingsVersion: unit.settingsVersion,
    ...(waitsForRelease(unit) && { needsRelease: true }),
    timeouts: timeoutsOf(unit),
    masked: manifest.masked,
    resolution: resolutions.at(-1) ?? null,
    ...(resolutions.length > 1 && { resolutions }),
    addresses: { private: unit.internalAddress ?? unit.assignedAddress, public: unit.publicAddress },
    relations: [...relations],
  };
}

/** Whether no hook of a unit runs because its protected settings are withheld. Removals do not wait. */
export const waitsForRelease = (unit: UnitFacts): boolean => unit.life === 'alive' && needsRelease(unit.secret, unit);

/** Returns the time limits of a unit's hooks in seconds: the service's, or else the formula's. */
export function timeoutsOf({ manifest, timeouts }: Pick<UnitFacts, 'manifest' | 'timeouts'>): UnitGoal['timeouts'] {
  return { default: hookSeconds.default, ...manifest.timeouts, ...timeouts };
}

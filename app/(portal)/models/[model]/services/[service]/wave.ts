import type { ShownService, ShownUnit } from '../service-data.ts';

/** Where a unit is in the change to the service's version and settings. */
export type WaveState = 'done' | 'changing' | 'failed' | 'waiting';

export interface WaveUnit {
  unit: ShownUnit;
  state: WaveState;
}

/** The change of a service's units to its version and settings. */
export interface Wave {
  units: WaveUnit[];
  done: number;
  /** Whether a unit that failed keeps the others from changing. */
  isStopped: boolean;
  /** The versions of the units that have not changed yet; the version to go back to comes first. */
  earlier: string[];
  isUpgrade: boolean;
}

/**
 * Returns the change of a service's units; null if all units that have started have confirmed it. Units in Staging keep
 * their version, and take no part.
 */
export function waveOf({
  units,
  version,
  settingsVersion,
}: Pick<ShownService, 'units' | 'version' | 'settingsVersion'>): Wave | null {
  const living = units.filter(
    ({ life, stage, isStaged }) => life === 'alive' && !isStaged && (stage === 'started' || stage === 'upgrading'),
  );
  const states = living.map((unit): WaveUnit => {
    const isGiven = unit.version === version && unit.settingsVersion === settingsVersion;
    if (!isGiven) return { unit, state: 'waiting' };
    if (unit.isConfirmed) return { unit, state: 'done' };
    return { unit, state: unit.failing.length > 0 ? 'failed' : 'changing' };
  });
  const done = states.filter(({ state }) => state === 'done').length;
  if (done === states.length) return null;
  const waiting = states.filter(({ state }) => state === 'waiting');
  return {
    units: states,
    done,
    isStopped: waiting.length > 0 && states.some(({ state }) => state === 'failed'),
    earlier: [...new Set(waiting.map(({ unit }) => unit.version))].filter((each) => each !== version),
    isUpgrade: states.some(
      ({ unit, state }) => unit.version !== version || (state !== 'done' && unit.stage === 'upgrading'),
    ),
  };
}

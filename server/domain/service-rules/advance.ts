import type { StoredUnitRecord } from './stored.ts';

/** The versions that a unit should have. */
export interface UnitVersions {
  formulaVersion: string;
  settingsVersion: number;
}

/** A unit that is not being removed, as far as the order of changes depends on it. */
export interface AdvancingUnit extends UnitVersions {
  id: string;
  number: number;
  record: StoredUnitRecord;
  isFailing: boolean;
  /** Whether the service's protected settings are withheld from the unit's machine. */
  needsRelease?: boolean;
}

/** How many units may change at the same time; null for all. */
export interface AtOnce {
  upgrade: number | null;
  configure: number | null;
}

/**
 * Returns the units that get the service's versions now (EN-56), in their order. Units that have not started get them
 * immediately, and so do units that are already out of service. Of the others, the next one follows when the one before
 * it has confirmed its versions; a unit that fails with the service's versions stops the rest. A unit that has started
 * and may not have the protected settings keeps its versions until they are released.
 */
export function advance(target: UnitVersions, units: readonly AdvancingUnit[], atOnce: AtOnce): string[] {
  const mayChange = (unit: AdvancingUnit) => !unit.needsRelease || unit.record.started === null;
  const lacking = units.filter((unit) => !hasVersions(unit, target) && mayChange(unit));
  const behind = lacking.toSorted((a, b) => a.number - b.number);
  const free = behind.filter((unit) => unit.record.started === null || !isConfirmed(unit));
  const waiting = behind.filter((unit) => !free.includes(unit));
  const underWay = units.filter((unit) => unit.record.started !== null && !isConfirmed(unit));
  const isStopped = units.some((unit) => unit.isFailing && hasVersions(unit, target) && !isConfirmed(unit));
  const isUpgrade = behind.some(({ formulaVersion }) => formulaVersion !== target.formulaVersion);
  const limit = (isUpgrade ? atOnce.upgrade : atOnce.configure) ?? Number.POSITIVE_INFINITY;
  const next = isStopped ? [] : waiting.slice(0, Math.max(0, limit - underWay.length));
  return [...free, ...next].map(({ id }) => id);
}

const hasVersions = (unit: UnitVersions, target: UnitVersions): boolean =>
  unit.formulaVersion === target.formulaVersion && unit.settingsVersion === target.settingsVersion;

/** Whether a unit has run its hooks for the versions that it should have. */
export const isConfirmed = ({
  record,
  formulaVersion,
  settingsVersion,
}: Pick<AdvancingUnit, 'record' | keyof UnitVersions>): boolean =>
  record.formula === formulaVersion &&
  record.configured?.formula === formulaVersion &&
  record.configured.settings === settingsVersion;

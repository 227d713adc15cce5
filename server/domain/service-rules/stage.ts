import type { StoredUnitRecord } from './stored.ts';
import type { Life, UnitStage } from './words.ts';

/** The facts from which the stage of a unit is derived. */
export interface StageFacts {
  life: Life;
  removedAt: Date | null;
  agentSince: Date | null;
  /** The formula's version that the unit should have. */
  formulaVersion: string;
  record: StoredUnitRecord;
}

/** Returns the stage in the life of a unit. */
export function stageOf({ life, removedAt, agentSince, formulaVersion, record }: StageFacts): UnitStage {
  if (removedAt !== null) return 'removed';
  if (life === 'dying') return 'leaving';
  if (agentSince === null) return 'placed';
  if (record.formula === null) return 'installing';
  if (record.started !== null) return record.formula === formulaVersion ? 'started' : 'upgrading';
  return record.configured === null ? 'configuring' : 'starting';
}

import { z } from 'zod';
import { maxCommandSeconds } from './limits.ts';
import { isRelationName, isUnitName } from './unit-names.ts';

/** A clock of a relation, or a version of a node. */
const count = z.int().nonnegative();
const seconds = z.number().positive().max(maxCommandSeconds);
export const unitName = z.string().refine(isUnitName, { error: 'not a unit name' });
export const relationName = z.string().refine(isRelationName, { error: 'not a relation name' });
/** Unlike the name of a service, the name of a model may have parts of digits, such as `prod-2`. */
const modelName = z
  .string()
  .regex(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/)
  .max(63);
/** The name of a file in a formula's folder `hooks`. */
export const hookName = z
  .string()
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/)
  .max(128);

export const unitLimits = { unitsOfVm: 64, relationsOfUnit: 64, members: 1_000, hooks: 1_024, masked: 256 };

/** A unit that takes part in a relation, as other units see it. */
const presentMember = z.looseObject({
  unit: unitName,
  /** The version of the member's settings in this relation. */
  version: count,
  /** The relation's clock when the member joined or last changed. */
  clock: count,
  /**
   * The relation's clock at the first change that this unit has not confirmed, if there is one. The hook of a change
   * keeps its place when the member changes again.
   */
  since: count.optional(),
});
export type RelationMember = z.output<typeof presentMember>;

/** A unit that no longer takes part in a relation. */
const departedMember = z.looseObject({ unit: unitName, left: z.literal(true), clock: count });

const unitRelation = z.looseObject({
  id: z.int().positive(),
  name: relationName,
  interface: z.string(),
  life: z.enum(['alive', 'dying']),
  clock: count,
  /** Whether `members` lists all members. If not, it lists those that changed after the clock that the agent named. */
  whole: z.boolean(),
  /** Any number of members may have departed since the agent last looked. */
  members: z.array(z.union([departedMember, presentMember])).max(100 * unitLimits.members),
});
export type UnitRelation = z.output<typeof unitRelation>;

export const formulaOfUnit = z.looseObject({
  id: z.string(),
  name: z.string(),
  version: z.string(),
  /** The files in the formula's folder `hooks`. */
  hooks: z.array(hookName).max(unitLimits.hooks),
  package: z.looseObject({
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    size: count,
    /** The package's URL, relative to the gateway's URL. */
    url: z.string(),
  }),
});

const resolution = z.looseObject({ run: z.string(), how: z.enum(['retry', 'skip']) });
export type HookResolution = z.output<typeof resolution>;

/** One unit and its goal. The schema keeps unknown fields, because a newer portal may send more. */
const unitGoal = z.looseObject({
  unit: unitName,
  model: modelName,
  turn: count,
  /** `leaving`: the unit runs its last hooks and is then removed from the machine. */
  goal: z.enum(['alive', 'leaving']),
  serviceExposed: z.boolean(),
  formula: formulaOfUnit,
  settingsVersion: count,
  /**
   * Whether the unit waits until an admin releases the protected settings of its service to this machine. Meanwhile,
   * no hook runs. Absent if not.
   */
  needsRelease: z.boolean().optional(),
  timeouts: z.looseObject({ default: seconds }).catchall(seconds),
  /** Keys whose values are masked in the output of hooks. */
  masked: z.array(z.string()).max(unitLimits.masked),
  /** What an operator decided about a hook that failed in a particular run. */
  resolution: resolution.nullable(),
  /** All decisions that have not led to a run yet, if there are several; the last one is `resolution`. */
  resolutions: z
    .array(resolution)
    .max(unitLimits.relationsOfUnit + 1)
    .optional(),
  addresses: z.looseObject({ private: z.string().nullable(), public: z.string().nullable() }),
  relations: z.array(unitRelation).max(unitLimits.relationsOfUnit),
});
export type UnitGoal = z.output<typeof unitGoal>;

/**
 * What should be on a machine, as returned by `GET /agent/v1/units`. It is separate from the goal state, because a
 * changed setting of a relation must not enable extensions again.
 */
export const unitState = z.looseObject({
  protocol: z.literal(1),
  vmId: z.string(),
  /** Identifies the life of the portal's database. After a restore of a backup, clocks of another epoch are invalid. */
  epoch: z.string(),
  units: z.array(unitGoal).max(unitLimits.unitsOfVm),
});
export type UnitState = z.output<typeof unitState>;

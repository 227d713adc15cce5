import { z } from 'zod';
import { relationName, unitName } from './unit-state.ts';

const count = z.int().nonnegative();

/** What a unit has confirmed of one relation. */
const relationRecord = z.object({
  name: relationName,
  /**
   * The units whose `joined` hook has ended, each with the version of its settings that a `changed` hook confirmed; null
   * until the first `changed` hook has ended.
   */
  members: z.record(unitName, count.nullable()),
  /** Whether the `broken` hook has ended. The entry is then kept until the unit state no longer has the relation. */
  broken: z.boolean(),
});
export type RelationRecord = z.output<typeof relationRecord>;

/** A hook that failed, and its next attempt. */
const hookFailure = z.object({
  /** The run that failed last. */
  run: z.string(),
  /** Identifies what the hook runs for. A newer cause ends the delay. */
  cause: z.string(),
  failures: z.int().positive(),
  /** Time of the next attempt, in milliseconds since 1970. */
  notBefore: z.number(),
});
export type HookFailure = z.output<typeof hookFailure>;

/**
 * What a unit has confirmed. The agent keeps it on disk, and the portal has the same from the runs of hooks. What is
 * due is the difference between the unit's goal and this record.
 */
export const unitRecord = z.object({
  /** The machine's current boot. */
  boot: z.string().nullable(),
  /** The formula's version that `install` or `upgrade-formula` confirmed; null until `install` has ended. */
  formula: z.string().nullable(),
  /**
   * What `config-changed` confirmed last: the settings' version, the formula's version, the boot, and the unit's public
   * address, which is absent if an earlier agent ran the hook.
   */
  configured: z
    .object({
      settings: count,
      formula: z.string(),
      boot: z.string().nullable(),
      address: z.string().nullable().optional(),
    })
    .nullable(),
  /** The boot in which `start` ended; null until then. */
  started: z.object({ boot: z.string().nullable() }).nullable(),
  stopped: z.boolean(),
  /** Keyed by the relation's id. */
  relations: z.record(z.string().regex(/^[1-9]\d*$/), relationRecord),
  /** Hooks that failed last: `unit` for a hook of the unit, and the relation's id for a hook of a relation. */
  failing: z.record(z.string(), hookFailure),
  /** Hooks that were skipped and have not succeeded since. */
  skipped: z.array(z.string()),
});
export type UnitRecord = z.output<typeof unitRecord>;

/** Returns the record of a unit that no agent has looked after yet. */
export function newUnitRecord(boot: string | null = null): UnitRecord {
  return {
    ...{ boot, formula: null, configured: null, started: null, stopped: false },
    ...{ relations: {}, failing: {}, skipped: [] },
  };
}

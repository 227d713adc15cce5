import type { Transaction } from '#db/client.ts';
import type { UnitRelation } from '#protocol/unit-state.ts';
import type { Context } from '#server/domain/context.ts';

export type Moving = Pick<Context, 'now'>;

/** The run of a hook that causes a change. */
export interface CausingRun {
  vmId: string;
  id: string;
}

/**
 * Adds a unit to the relations of its service, after its hook `start` ended with 0. Call it after the unit's row was
 * updated. Does nothing for relations that the unit is in, and for a unit that is being removed.
 */
export function enterRelations(
  _tx: Transaction,
  _ctx: Moving,
  _unitId: string,
  _run: CausingRun | null,
): Promise<void> {
  throw new Error('relations have no tables');
}

/**
 * Makes others depart from units that begin to leave. Call it after their rows were updated to `dying`, and after their
 * runs were ended.
 */
export function leaveRelations(_tx: Transaction, _ctx: Moving, _unitIds: readonly string[]): Promise<void> {
  throw new Error('relations have no tables');
}

/**
 * Ends the participation of units that are removed. They need not have left before. Returns the services of which a
 * relation ended.
 */
export function forgetParticipants(
  _tx: Transaction,
  _ctx: Moving,
  _unitIds: readonly string[],
): Promise<{ endedServices: string[] }> {
  throw new Error('relations have no tables');
}

/** A relation hook that counts as done without a run: it has no file, or was skipped. */
export interface DoneHook {
  hook: string;
  relationId: number;
  remoteUnit: string | null;
  version: number | null;
}

/** Stores that a unit has confirmed hooks of relations, other than by `flush`. */
export function confirmRelationHooks(
  _tx: Transaction,
  _ctx: Moving,
  _unitId: string,
  _hooks: readonly DoneHook[],
): Promise<{ endedServices: string[] }> {
  throw new Error('relations have no tables');
}

/**
 * Reads the relations of units for the unit state. `after`: for each relation that the agent holds, the clock up to
 * which it holds it; of those, only members that moved since are listed.
 */
export function relationsOf(
  _tx: Pick<Transaction, 'execute'>,
  _unitIds: readonly string[],
  _after: ReadonlyMap<number, number>,
): Promise<Map<string, UnitRelation[]>> {
  throw new Error('relations have no tables');
}

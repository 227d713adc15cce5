import { inArray, type SQL } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { units } from '#db/schema/index.ts';
import type { FoundConcern } from '#server/domain/health/index.ts';
import { evaluateUnit, type UnitHealth, worstUnit } from '#server/domain/service-rules/unit-health.ts';
import { standsStill, withoutPauses } from '#server/domain/verdicts/index.ts';
import { unitNeedsRelease } from '../release/unit-needs-release.ts';
import { readUnitWork, type UnitWork } from '../runs/read-due.ts';
import { waitsForRelease } from '../unit-state/goal-of.ts';
import { readLanes, type VmLane } from './read-lane.ts';
import { readMissingRelations } from './read-missing-relations.ts';

/** A unit with its health and the hooks that are due. */
export interface EvaluatedUnit extends UnitWork, UnitHealth {}

/** Evaluates the health of units, sorted by VM and name. */
export async function readUnitHealth(tx: Transaction, where: SQL, now: Date): Promise<EvaluatedUnit[]> {
  const work = await readUnitWork(tx, where);
  if (work.length === 0) return [];
  const vmIds = [...new Set(work.map(({ unit }) => unit.vmId))];
  const lanes = await readLanes(tx, vmIds, now);
  const missing = await readMissingRelations(
    tx,
    work.map(({ unit }) => unit),
  );
  return work.flatMap((one) => {
    const lane = lanes.get(one.unit.vmId);
    return lane === undefined ? [] : [{ ...one, ...healthOf(one, lane, missing.get(one.unit.id) ?? null, now) }];
  });
}

function healthOf(work: UnitWork, lane: VmLane, missingRelation: string | null, now: Date): UnitHealth {
  const { unit, due, failing } = work;
  const [first] = due;
  return evaluateUnit(
    {
      agent: lane.agent,
      isLeaving: unit.life === 'dying',
      running: lane.running.get(unit.id) ?? null,
      failing: Object.values(failing),
      due: first === undefined ? null : { hook: first.hook, lateAt: lateAt(work, lane) },
      skipped: unit.skipped,
      missingRelation: unit.life === 'dying' ? null : missingRelation,
      needsRelease: unitNeedsRelease(unit),
    },
    now,
  );
}

/**
 * Returns when the first hook that is due is late: after its own time limit. Null while it waits for something that
 * runs, fails, or pauses deadlines, or for a release.
 */
function lateAt({ unit, goal, due, failing }: UnitWork, lane: VmLane): Date | null {
  const { running, runsCommand, pauses, quietSince } = lane;
  const [first] = due;
  if (first === undefined || waitsForRelease(unit)) return null;
  if (running.size > 0 || runsCommand || Object.keys(failing).length > 0) return null;
  if (quietSince === null) return null;
  const at = withoutPauses(quietSince, Number(goal.timeouts[first.hook] ?? goal.timeouts.default), pauses);
  return standsStill(at, pauses) ? null : at;
}

/** Returns the worst unit of each VM, for the health of the VM (EN-81). */
export async function readUnitConcerns(
  tx: Transaction,
  vmIds: readonly string[],
  now: Date,
): Promise<Map<string, FoundConcern>> {
  const evaluated = await readUnitHealth(tx, inArray(units.vmId, [...vmIds]), now);
  const byVm = Map.groupBy(evaluated, ({ unit }) => unit.vmId);
  return new Map([...byVm].map(([vmId, ofVm]) => [vmId, concernOf(ofVm)]));
}

function concernOf(evaluated: readonly EvaluatedUnit[]): FoundConcern {
  const times = evaluated.flatMap(({ changesAt }) => changesAt?.getTime() ?? []);
  const changesAt = times.length === 0 ? null : new Date(Math.min(...times));
  const worst = worstUnit(evaluated);
  if (worst === null || worst.health === 'healthy') return { concern: null, changesAt };
  const { unit, health, cause, command, exitCode, deadlineAt } = worst;
  const about = { source: 'units' as const, subject: unit.name, formula: unit.formula, messageId: null };
  return { concern: { ...about, health, cause, command, exitCode, deadlineAt }, changesAt };
}

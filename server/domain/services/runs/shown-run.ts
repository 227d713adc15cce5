import { and, desc, eq, isNotNull, isNull, or } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { Database, Transaction } from '#db/client.ts';
import { hookRuns, models, relations, units } from '#db/schema/index.ts';
import { count, isoOrNull, time } from '#server/domain/answers.ts';
import { DomainError } from '#server/domain/error.ts';
import { runOutcomes } from '#server/domain/service-rules/words.ts';
import type { UnitRow } from './find-unit.ts';

/** Why a hook ran. */
export const runCause = z.object({
  because: z.string(),
  run: z
    .object({ vmId: z.uuid(), id: z.uuid(), unit: z.string(), hook: z.string() })
    .optional()
    .describe('The run that wrote what this run is for.'),
  act: z.object({ action: z.string(), at: time, by: z.string() }).optional().describe('The act of an operator.'),
});

/** A run of a hook. */
export const hookRun = z.object({
  id: z.uuid(),
  number: count.describe('The number of the run, counted per unit.'),
  unit: z.string(),
  vmId: z.uuid(),
  hook: z.string(),
  relation: count.nullable().describe('The number of the relation in its model; null for a hook of the unit.'),
  remoteUnit: z.string().nullable(),
  version: count.nullable().describe('The version of the settings that the hook was for.'),
  attempt: count,
  formulaVersion: z.string(),
  outcome: z.enum(runOutcomes),
  begunAt: time,
  endedAt: time.nullable(),
  seconds: z.number().nullable(),
  timeoutSeconds: count,
  exitCode: z.number().int().nullable(),
  signal: z.string().nullable(),
  refused: z.string().nullable().describe('The code with which the portal rejected what the hook changed.'),
  reason: z.object({ id: z.string(), params: z.array(z.string()) }).nullable(),
  cause: runCause.nullable(),
});
export type HookRun = z.infer<typeof hookRun>;

const remote = alias(units, 'remote');

/** Selects runs with the names of what they refer to. */
export function selectRuns(db: Database | Transaction) {
  return db
    .select({ run: hookRuns, unit: units.name, relation: relations.number, remoteUnit: remote.name })
    .from(hookRuns)
    .innerJoin(units, eq(units.id, hookRuns.unitId))
    .leftJoin(relations, eq(relations.id, hookRuns.relationId))
    .leftJoin(remote, eq(remote.id, hookRuns.remoteUnitId))
    .$dynamic();
}

export type SelectedRun = Awaited<ReturnType<typeof selectRuns>>[number];

/** Returns a run as pages and scripts see it. */
export function runOf({ run, unit, relation, remoteUnit }: SelectedRun): HookRun {
  const { unitId: _, relationId: __, remoteUnitId: ___, views: ____, result: _____, dueAddress: ______, ...rest } = run;
  const { dueVersion, begunAt, endedAt, reason, cause, ...shown } = rest;
  return {
    ...shown,
    ...{ unit, relation, remoteUnit, version: dueVersion },
    ...{ begunAt: begunAt.toISOString(), endedAt: isoOrNull(endedAt) },
    reason: reason && { id: reason.id, params: [...reason.params] },
    cause: cause && { ...cause },
  };
}

/** Finds a unit of a model, even after its removal. Throws 404 `unit_unknown`. */
export async function findModelUnit(
  db: Database | Transaction,
  { model, unit: name }: { model: string; unit: string },
): Promise<UnitRow> {
  const [found] = await db
    .select({ unit: units })
    .from(units)
    .innerJoin(models, eq(models.id, units.modelId))
    .where(and(eq(models.name, model), eq(units.name, name), or(isNull(models.removedAt), isNotNull(units.removedAt))))
    .orderBy(desc(models.createdAt))
    .limit(1);
  if (found === undefined) throw new DomainError('not_found', 'unit_unknown');
  return found.unit;
}

import { and, eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { hookRuns, relationUnits, units } from '#db/schema/index.ts';
import type { UnitRunBegin } from '#protocol/unit-runs.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { causeOf } from './cause-of.ts';
import { lockUnit, type UnitRow } from './find-unit.ts';

/** A run of a hook, as the agent names it in a path. */
export interface RunName {
  vmId: string;
  unit: string;
  run: string;
}

/**
 * Begins a run of a hook, and interrupts a run of the same unit that has not ended (EN-58). May be repeated. Returns the
 * number of the run. Throws 409 `unit_gone` | `run_superseded`, 404 `node_unknown`.
 */
export async function beginRun(ctx: Context, name: RunName, begin: UnitRunBegin): Promise<{ number: number }> {
  const { vmId, unit: unitName, run: id } = name;
  return ctx.db.transaction(async (tx) => {
    const unit = await lockUnit(tx, vmId, unitName);
    const known = await readRun(tx, vmId, id);
    if (known !== undefined) {
      if (known.unitId === unit.id && known.outcome === 'running') return { number: known.number };
      throw new DomainError('conflict', 'run_superseded');
    }
    await interruptRun(tx, ctx, unit);
    const number = unit.runCounter + 1;
    const record = begin.boot === undefined ? unit.record : { ...unit.record, boot: begin.boot };
    await tx.update(units).set({ runCounter: number, record }).where(eq(units.id, unit.id));
    const remoteUnitId = await remoteUnitOf(tx, unit, begin);
    const dueVersion = begin.version ?? (begin.hook === 'config-changed' ? unit.settingsVersion : null);
    const dueAddress = begin.address === undefined ? null : { public: begin.address };
    const subject = { hook: begin.hook, relationId: begin.relation ?? null, remoteUnitId, dueVersion, dueAddress };
    const cause = await causeOf(tx, { ...unit, record }, subject);
    await tx.insert(hookRuns).values({
      ...{ vmId, id, unitId: unit.id, number, ...subject, cause, attempt: begin.attempt },
      ...{ formulaVersion: begin.formula, begunAt: ctx.now, outcome: 'running' as const },
      timeoutSeconds: Math.ceil(begin.timeoutSeconds),
    });
    await recordChange(tx, 'vm', vmId);
    return { number };
  });
}

/** Reads a run of a VM. */
export async function readRun(
  db: Database | Transaction,
  vmId: string,
  id: string,
): Promise<typeof hookRuns.$inferSelect | undefined> {
  const [run] = await db
    .select()
    .from(hookRuns)
    .where(and(eq(hookRuns.vmId, vmId), eq(hookRuns.id, id)));
  return run;
}

/** Ends a run that did not end: its agent was killed, or stopped. */
export async function interruptRun(
  tx: Transaction,
  { now }: Pick<Context, 'now'>,
  unit: Pick<UnitRow, 'id' | 'vmId'>,
): Promise<void> {
  await tx
    .update(hookRuns)
    .set({ outcome: 'interrupted', endedAt: now })
    .where(and(eq(hookRuns.vmId, unit.vmId), eq(hookRuns.unitId, unit.id), eq(hookRuns.outcome, 'running')));
}

/**
 * Returns the id of the member that a hook is for. Throws 404 `node_unknown` if no unit of the model has this name, or if
 * the unit never took part in the relation.
 */
async function remoteUnitOf(
  tx: Transaction,
  unit: UnitRow,
  { relation, remoteUnit }: UnitRunBegin,
): Promise<string | null> {
  if (relation !== undefined && !(await tookPart(tx, unit, relation)))
    throw new DomainError('not_found', 'node_unknown');
  if (remoteUnit === undefined) return null;
  const [remote] = await tx
    .select({ id: units.id })
    .from(units)
    .where(and(eq(units.modelId, unit.modelId), eq(units.name, remoteUnit)));
  if (remote === undefined) throw new DomainError('not_found', 'node_unknown');
  return remote.id;
}

async function tookPart(tx: Transaction, unit: UnitRow, relation: number): Promise<boolean> {
  const own = and(eq(relationUnits.relationId, relation), eq(relationUnits.unitId, unit.id));
  const [found] = await tx.select({ side: relationUnits.side }).from(relationUnits).where(own);
  return found !== undefined;
}

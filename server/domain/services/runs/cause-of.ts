import { and, desc, eq, inArray, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import {
  auditEntries,
  hookRuns,
  models,
  relationLog,
  relationSeen,
  relations,
  relationUnits,
  serviceSettings,
  services,
  units,
  vmRoles,
} from '#db/schema/index.ts';
import { hooksDue } from '#protocol/hooks.ts';
import type { CauseOfRun } from '#server/domain/service-rules/stored.ts';
import type { UnitRow } from './find-unit.ts';
import { hookKind } from './hook-kind.ts';

/** What a run is for. */
interface RunSubject {
  hook: string;
  relationId: number | null;
  remoteUnitId: string | null;
  dueVersion: number | null;
  dueAddress: { public: string | null } | null;
}

/**
 * Returns why a hook runs: the run that wrote what it is for, or the act of an operator. The chain of causes therefore
 * ends at an act (EN-78).
 */
export function causeOf(tx: Transaction, unit: UnitRow, subject: RunSubject): Promise<CauseOfRun> {
  const { relationId } = subject;
  return relationId === null ? causeOfUnitHook(tx, unit, subject) : causeOfRelationHook(tx, unit, relationId, subject);
}

async function causeOfUnitHook(tx: Transaction, unit: UnitRow, subject: RunSubject): Promise<CauseOfRun> {
  const { hook, dueVersion, dueAddress } = subject;
  const kind = hookKind(hook);
  const goal = unit.life === 'dying' ? ('leaving' as const) : ('alive' as const);
  const formula = { version: unit.formulaVersion, hooks: [] };
  const record = { ...unit.record, relations: {}, failing: {}, skipped: [] };
  const versions = { settingsVersion: unit.settingsVersion, formula, ...(dueAddress && { addresses: dueAddress }) };
  const due = hooksDue({ goal, ...versions, relations: [] }, record);
  const because = due.find((one) => one.kind === kind)?.because ?? 'repeated';
  if (because === 'unit-leaving') return { because, ...(await removalAt(tx, 'unit', unit.dyingAt)) };
  if (because === 'other-settings') {
    const [settings] = await tx
      .select({ at: serviceSettings.changedAt, by: serviceSettings.changedBy })
      .from(serviceSettings)
      .where(
        and(
          eq(serviceSettings.serviceId, unit.serviceId),
          eq(serviceSettings.version, dueVersion ?? unit.settingsVersion),
        ),
      );
    return settings === undefined ? { because } : { because, act: act('service.update', settings) };
  }
  if (because === 'other-formula') return { because, ...(await upgradeOf(tx, unit)) };
  if (because === 'other-address') return { because, ...(await swapOf(tx, unit)) };
  return because === 'reboot' || because === 'repeated'
    ? { because }
    : { because, act: act('unit.add', { at: unit.createdAt, by: unit.createdBy }) };
}

async function causeOfRelationHook(
  tx: Transaction,
  unit: UnitRow,
  relationId: number,
  subject: RunSubject,
): Promise<CauseOfRun> {
  const [relation] = await tx.select().from(relations).where(eq(relations.id, relationId));
  const kind = hookKind(subject.hook);
  if (kind === 'broken' || kind === 'departed') {
    if (unit.dyingAt !== null) return { because: 'unit-leaving', ...(await removalAt(tx, 'unit', unit.dyingAt)) };
    if (relation?.dyingAt) return { because: 'relation-going', ...(await removalAt(tx, 'relation', relation.dyingAt)) };
    const remote = await remoteOf(tx, subject);
    const goneAt = remote?.dyingAt ?? remote?.removedAt ?? null;
    const moved = goneAt === null ? await moveOf(tx, relationId, [unit.id, remote?.id ?? unit.id], 'left') : {};
    return { because: 'left', ...moved, ...(await removalAt(tx, 'unit', goneAt)) };
  }
  const because = kind === 'joined' ? 'joined' : await reasonOfChange(tx, unit, relationId, subject);
  const moved =
    because === 'joined' ? await moveOf(tx, relationId, [unit.id, subject.remoteUnitId ?? unit.id], because) : {};
  if (moved.act !== undefined) return { because, ...moved };
  const run = await writerOf(tx, relationId, { ...subject, dueVersion: kind === 'joined' ? null : subject.dueVersion });
  if (run !== null) return { because, run };
  if (relation === undefined) return { because };
  return { because, act: act('relation.add', { at: relation.createdAt, by: relation.createdBy }) };
}

async function reasonOfChange(
  tx: Transaction,
  unit: UnitRow,
  relationId: number,
  { remoteUnitId }: RunSubject,
): Promise<'changed' | 'after-joined'> {
  const [seen] = await tx
    .select({ version: relationSeen.version })
    .from(relationSeen)
    .where(
      and(
        eq(relationSeen.relationId, relationId),
        eq(relationSeen.unitId, unit.id),
        eq(relationSeen.remoteUnitId, remoteUnitId ?? unit.id),
      ),
    );
  return (seen?.version ?? null) === null ? 'after-joined' : 'changed';
}

/** Returns the run that wrote a version of the member's settings or, without a version, the run by which it joined. */
async function writerOf(
  tx: Transaction,
  relationId: number,
  { remoteUnitId, dueVersion }: RunSubject,
): Promise<CauseOfRun['run'] | null> {
  if (remoteUnitId === null) return null;
  const event =
    dueVersion === null
      ? eq(relationLog.kind, 'joined')
      : and(eq(relationLog.version, dueVersion), inArray(relationLog.kind, ['joined', 'changed']));
  const [found] = await tx
    .select({ vmId: hookRuns.vmId, id: hookRuns.id, unit: units.name, hook: hookRuns.hook })
    .from(relationLog)
    .innerJoin(hookRuns, and(eq(hookRuns.vmId, relationLog.runVm), eq(hookRuns.id, relationLog.runId)))
    .innerJoin(units, eq(units.id, hookRuns.unitId))
    .where(and(eq(relationLog.relationId, relationId), eq(relationLog.unitId, remoteUnitId), event))
    .orderBy(desc(relationLog.clock))
    .limit(1);
  return found ?? null;
}

async function remoteOf(tx: Transaction, { remoteUnitId }: RunSubject): Promise<UnitRow | undefined> {
  if (remoteUnitId === null) return undefined;
  const [remote] = await tx.select().from(units).where(eq(units.id, remoteUnitId));
  return remote;
}

/** The acts by which the removal of a unit or of a relation begins. */
const removals = {
  unit: ['unit.remove', 'unit.replace', 'service.remove', 'service.update', 'model.destroy', 'model.apply'],
  relation: ['relation.remove', 'service.remove', 'service.update', 'model.destroy', 'model.apply'],
};

/** Finds the act that began a removal, by its time, which both rows have. */
async function removalAt(
  tx: Transaction,
  what: keyof typeof removals,
  at: Date | null,
): Promise<Pick<CauseOfRun, 'act'>> {
  if (at === null) return {};
  const [entry] = await tx
    .select({ action: auditEntries.action, at: auditEntries.at, by: auditEntries.actorName })
    .from(auditEntries)
    .where(and(eq(auditEntries.at, at), inArray(auditEntries.action, removals[what])))
    .orderBy(desc(auditEntries.id))
    .limit(1);
  return entry === undefined ? {} : { act: act(entry.action, entry) };
}

/** Finds the newest act that gave a service the version that its unit upgrades to. */
async function upgradeOf(tx: Transaction, { serviceId, formulaVersion }: UnitRow): Promise<Pick<CauseOfRun, 'act'>> {
  const [entry] = await tx
    .select({ action: auditEntries.action, at: auditEntries.at, by: auditEntries.actorName })
    .from(auditEntries)
    .innerJoin(services, eq(services.id, serviceId))
    .innerJoin(models, and(eq(models.id, services.modelId), eq(models.name, auditEntries.targetId)))
    .where(
      and(
        ...[eq(auditEntries.targetKind, 'model'), eq(auditEntries.action, 'service.update')],
        sql`${auditEntries.details} ->> 'service' = ${services.name}`,
        sql`${auditEntries.after} ->> 'formulaVersion' = ${formulaVersion}`,
      ),
    )
    .orderBy(desc(auditEntries.id))
    .limit(1);
  return entry === undefined ? {} : { act: act(entry.action, entry) };
}

/** Finds the newest swap of the cloud service that a unit is in. */
async function swapOf(tx: Transaction, { vmId }: UnitRow): Promise<Pick<CauseOfRun, 'act'>> {
  const [entry] = await tx
    .select({ action: auditEntries.action, at: auditEntries.at, by: auditEntries.actorName })
    .from(auditEntries)
    .innerJoin(vmRoles, eq(vmRoles.vmId, vmId))
    .innerJoin(models, and(eq(models.id, vmRoles.modelId), eq(models.name, auditEntries.targetId)))
    .where(
      and(
        ...[eq(auditEntries.targetKind, 'model'), eq(auditEntries.action, 'deployment.swap')],
        sql`${auditEntries.details} ->> 'service' = ${vmRoles.cloudService}`,
      ),
    )
    .orderBy(desc(auditEntries.id))
    .limit(1);
  return entry === undefined ? {} : { act: act(entry.action, entry) };
}

/** Finds the swap that last moved one of two units into a relation, or out of it. */
async function moveOf(
  tx: Transaction,
  relationId: number,
  unitIds: readonly string[],
  kind: 'joined' | 'left',
): Promise<Pick<CauseOfRun, 'act'>> {
  const [event] = await tx
    .select({ at: relationLog.at, clock: relationLog.clock, moved: relationUnits.movedClock })
    .from(relationLog)
    .innerJoin(
      relationUnits,
      and(eq(relationUnits.relationId, relationLog.relationId), eq(relationUnits.unitId, relationLog.unitId)),
    )
    .where(
      and(
        ...[eq(relationLog.relationId, relationId), eq(relationLog.kind, kind)],
        inArray(relationLog.unitId, [...unitIds]),
      ),
    )
    .orderBy(desc(relationLog.clock))
    .limit(1);
  if (event === undefined || event.clock !== event.moved) return {};
  const [entry] = await tx
    .select({ action: auditEntries.action, at: auditEntries.at, by: auditEntries.actorName })
    .from(auditEntries)
    .where(and(eq(auditEntries.at, event.at), eq(auditEntries.action, 'deployment.swap')))
    .orderBy(desc(auditEntries.id))
    .limit(1);
  return entry === undefined ? {} : { act: act(entry.action, entry) };
}

const act = (action: string, { at, by }: { at: Date; by: string }): NonNullable<CauseOfRun['act']> => ({
  ...{ action, at: at.toISOString(), by },
});

import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { services, units } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { insertUnit } from './insert-unit.ts';
import { removeUnitsIn } from './remove-units.ts';

/**
 * Replaces the units of a VM after another machine enrolled for it (EN-54): the units of the previous machine are
 * lost, others see it depart, and as many new units with new numbers take the places. Units that no machine has fetched
 * stay.
 */
export async function replaceLostUnits(tx: Transaction, ctx: Context, vmId: string): Promise<void> {
  const lost = await tx
    .select({ unit: units, service: services })
    .from(units)
    .innerJoin(services, eq(services.id, units.serviceId))
    .where(and(eq(units.vmId, vmId), isNull(units.removedAt), isNotNull(units.agentSince)))
    .orderBy(services.name, units.number);
  if (lost.length === 0) return;
  const replaced = lost.filter(({ unit, service }) => unit.life === 'alive' && service.life === 'alive');
  const keepsMachines = replaced.length > 0;
  await removeUnitsIn(
    tx,
    ctx,
    lost.map(({ unit }) => unit.id),
    { forced: true, keepsMachines },
  );
  for (const { unit, service } of replaced) {
    const added = await insertUnit(tx, ctx, service, vmId);
    await recordAudit(tx, ctx, {
      action: 'unit.replace',
      target: { kind: 'vm', id: vmId },
      vmId,
      details: { unit: unit.name, replacement: added.name },
    });
  }
}

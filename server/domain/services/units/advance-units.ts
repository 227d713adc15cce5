import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { services, units } from '#db/schema/index.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { lockHead, takeTurn } from '#server/domain/goal-states/index.ts';
import { advance } from '#server/domain/service-rules/advance.ts';
import { raiseHeads } from '../relations/index.ts';

/**
 * Gives the service's versions to the units whose turn it is (EN-56). Call it when the service changes, and when a unit
 * has run a hook.
 */
export async function advanceUnits(tx: Transaction, ctx: Context, serviceId: string): Promise<void> {
  const [service] = await tx.select().from(services).where(eq(services.id, serviceId)).for('no key update');
  if (service === undefined || service.life !== 'alive') return;
  const rows = await tx
    .select()
    .from(units)
    .where(and(eq(units.serviceId, serviceId), eq(units.life, 'alive'), isNull(units.removedAt)));
  const facts = rows.map((unit) => ({ ...unit, isFailing: Object.keys(unit.failing).length > 0 }));
  const { formulaVersion, settingsVersion, atOnceUpgrade: upgrade, atOnceConfigure: configure } = service;
  const target = { formulaVersion, settingsVersion };
  const ids = new Set(advance(target, facts, { upgrade, configure }));
  const moving = rows.filter(({ id }) => ids.has(id));
  const vmIds = [...new Set(moving.map(({ vmId }) => vmId))].sort();
  for (const vmId of vmIds) {
    const turn = await takeTurn(tx, await lockHead(tx, vmId));
    const ofVm = moving.filter((unit) => unit.vmId === vmId).map(({ id }) => id);
    await tx
      .update(units)
      .set({ ...target, turn })
      .where(inArray(units.id, ofVm));
  }
  await raiseHeads(tx, ctx, vmIds);
  await recordChanges(tx, 'vm', vmIds);
}

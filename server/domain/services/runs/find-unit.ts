import { and, desc, eq, isNull } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { units } from '#db/schema/index.ts';
import { DomainError } from '#server/domain/error.ts';

export type UnitRow = typeof units.$inferSelect;

/** Locks a unit of a VM. Throws 409 `unit_gone` if the unit is not on this VM, or was removed. */
export async function lockUnit(tx: Transaction, vmId: string, name: string): Promise<UnitRow> {
  const [unit] = await tx
    .select()
    .from(units)
    .where(and(eq(units.vmId, vmId), eq(units.name, name), isNull(units.removedAt)))
    .for('no key update');
  if (unit === undefined) throw new DomainError('conflict', 'unit_gone');
  return unit;
}

/** Finds the unit of a VM, even if it was removed. Throws 404 `unit_unknown`. */
export async function findUnit(db: Database | Transaction, vmId: string, name: string): Promise<UnitRow> {
  const [unit] = await db
    .select()
    .from(units)
    .where(and(eq(units.vmId, vmId), eq(units.name, name)))
    .orderBy(desc(units.createdAt))
    .limit(1);
  if (unit === undefined) throw new DomainError('not_found', 'unit_unknown');
  return unit;
}

import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { removeUnitsIn } from '../units/index.ts';
import { findUnit } from './find-unit.ts';
import { settle } from './settle.ts';

/**
 * Removes a unit whose agent took it off the machine. May be repeated. Throws 404 `unit_unknown`, 409 `unit_alive`.
 */
export async function confirmRemoval(ctx: Context, vmId: string, name: string): Promise<void> {
  const { removedAt, life, id, serviceId } = await findUnit(ctx.db, vmId, name);
  if (removedAt !== null) return;
  if (life === 'alive') throw new DomainError('conflict', 'unit_alive');
  await ctx.db.transaction((tx) => removeUnitsIn(tx, ctx, [id]));
  await settle(ctx, { serviceId, advances: true, endedServices: [] });
}

import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { advanceUnits, endServices } from '../units/index.ts';
import type { UnitRow } from './find-unit.ts';
import { hookKind } from './hook-kind.ts';

/** What a hook leads to for services. */
export interface Settling {
  serviceId: string;
  /** Whether other units of the service may get its versions now. */
  advances: boolean;
  /** Services with a relation that ended. */
  endedServices: readonly string[];
}

/**
 * Gives versions to the next units of a service (EN-56), and removes services whose last relation ended. Runs
 * after the transaction of the hook, because it locks services, which must be locked before units.
 */
export async function settle(ctx: Context, { serviceId, advances, endedServices }: Settling): Promise<void> {
  if (endedServices.length > 0) await ctx.db.transaction((tx) => endServices(tx, ctx, endedServices));
  if (advances) await ctx.db.transaction((tx) => advanceUnits(tx, ctx, serviceId));
}

/** Whether a unit's hook, or the end of its failures, can concern the next units of its service. */
export const canAdvance = (hook: string, before: UnitRow, after: UnitRow): boolean =>
  !hook.includes('-relation-') || Object.keys(before.failing).length > 0 !== Object.keys(after.failing).length > 0;

/** Locks the service of a unit whose `start` ends, because the unit enters the service's relations. */
export async function lockForStart(
  tx: Transaction,
  vmId: string,
  unit: string,
  hooks: readonly string[],
): Promise<void> {
  if (!hooks.some((hook) => hookKind(hook) === 'start')) return;
  await tx.execute(sql`
    select from services where id in (
      select service_id from units where vm_id = ${vmId} and name = ${unit} and removed_at is null) order by id for share`);
}

import { asc, countDistinct, eq, gt, lte } from 'drizzle-orm';
import { extensionHealth, vmHealth } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';

/** An extension with a deadline. */
export interface Deadline {
  vmId: string;
  vm: string;
  extension: string;
  at: string;
}

export interface Deadlines {
  /** Number of VMs with an extension that missed its deadline. */
  past: number;
  /** Up to three extensions that missed their deadline, longest overdue first. */
  overdue: Deadline[];
  next: Deadline | null;
}

/** Returns missed deadlines and the next deadline. */
export async function listDeadlines(ctx: Context): Promise<Deadlines> {
  allow(ctx.actor, 'viewer');
  const { deadlineAt } = extensionHealth;
  const rows = (where: ReturnType<typeof gt>, limit: number) =>
    ctx.db
      .select({ vmId: extensionHealth.vmId, vm: vmHealth.name, extension: extensionHealth.name, at: deadlineAt })
      .from(extensionHealth)
      .innerJoin(vmHealth, eq(vmHealth.vmId, extensionHealth.vmId))
      .where(where)
      .orderBy(asc(deadlineAt))
      .limit(limit);
  const isPast = lte(deadlineAt, ctx.now);
  const [past, overdue, next] = await Promise.all([
    ctx.db
      .select({ count: countDistinct(extensionHealth.vmId) })
      .from(extensionHealth)
      .where(isPast),
    rows(isPast, 3),
    rows(gt(deadlineAt, ctx.now), 1),
  ]);
  const deadlineOf = ({ at, ...row }: (typeof next)[number]): Deadline => ({ ...row, at: at?.toISOString() ?? '' });
  return { past: past[0]?.count ?? 0, overdue: overdue.map(deadlineOf), next: next[0] ? deadlineOf(next[0]) : null };
}

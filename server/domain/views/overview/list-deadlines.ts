import { asc, countDistinct, eq, gt, lte, sql } from 'drizzle-orm';
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
  /** Up to three VMs, the most overdue first, each with its most overdue extension. */
  overdue: Deadline[];
  next: Deadline | null;
}

/** Returns missed deadlines and the next deadline. */
export async function listDeadlines(ctx: Context): Promise<Deadlines> {
  allow(ctx.actor, 'viewer');
  const { deadlineAt } = extensionHealth;
  const isPast = lte(deadlineAt, ctx.now);
  // Aliases, because both columns are called `name`.
  const vm = sql<string>`${vmHealth.name}`.as('vm');
  const extension = sql<string>`${extensionHealth.name}`.as('extension');
  const fields = { vmId: extensionHealth.vmId, vm, extension, at: deadlineAt };
  const ofVm = eq(vmHealth.vmId, extensionHealth.vmId);
  const longest = ctx.db
    .selectDistinctOn([extensionHealth.vmId], fields)
    .from(extensionHealth)
    .innerJoin(vmHealth, ofVm)
    .where(isPast)
    .orderBy(extensionHealth.vmId, asc(deadlineAt), asc(extensionHealth.name))
    .as('longest');
  const [past, overdue, next] = await Promise.all([
    ctx.db
      .select({ count: countDistinct(extensionHealth.vmId) })
      .from(extensionHealth)
      .where(isPast),
    ctx.db.select().from(longest).orderBy(asc(longest.at), asc(longest.vm)).limit(3),
    ctx.db
      .select(fields)
      .from(extensionHealth)
      .innerJoin(vmHealth, ofVm)
      .where(gt(deadlineAt, ctx.now))
      .orderBy(asc(deadlineAt))
      .limit(1),
  ]);
  const deadlineOf = ({ at, ...row }: (typeof next)[number]): Deadline => ({ ...row, at: at?.toISOString() ?? '' });
  return { past: past[0]?.count ?? 0, overdue: overdue.map(deadlineOf), next: next[0] ? deadlineOf(next[0]) : null };
}

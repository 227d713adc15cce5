import { eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { agents } from '#db/schema/index.ts';
import type { MachinePlatforms } from '#protocol/executions/index.ts';

/** The facts about a VM's machine that decide whether it can run a plan. */
export interface PlanMachine {
  /** When the machine enrolled, which distinguishes it from its successors; null if none is connected. */
  enrolledAt: Date | null;
  kind: 'reference' | 'stock' | null;
  /** What the machine can run; null if the agent never reported it. */
  platforms: MachinePlatforms | null;
  /** Whether the machine's owner has switched execution plans off. */
  isOff: boolean;
}

/** Returns the facts about a VM's machine that matter for plans. */
export async function findPlanMachine(db: Database | Transaction, vmId: string): Promise<PlanMachine> {
  const [agent] = await db
    .select({ enrolledAt: agents.enrolledAt, kind: agents.kind, platforms: agents.platforms })
    .from(agents)
    .where(eq(agents.vmId, vmId));
  return agent === undefined ? { enrolledAt: null, kind: null, platforms: null, isOff: false } : machineOf(agent);
}

/** Returns the facts that an agent's row says about its machine. */
export const machineOf = ({
  enrolledAt,
  kind,
  platforms,
}: Pick<typeof agents.$inferSelect, 'enrolledAt' | 'kind' | 'platforms'>): PlanMachine => ({
  ...{ enrolledAt, kind },
  platforms: platforms?.platforms ?? null,
  isOff: platforms?.executionPlans === 'off',
});

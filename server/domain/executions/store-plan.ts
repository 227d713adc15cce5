import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { executionPlans } from '#db/schema/index.ts';

/** Stores the text of a plan, unless it is stored already. Until the commit, `clearExecutions` does not delete it. */
export async function storePlan(tx: Transaction, plan: typeof executionPlans.$inferInsert): Promise<void> {
  const { sha256 } = executionPlans;
  for (;;) {
    const [locked] = await tx.select({ sha256 }).from(executionPlans).where(eq(sha256, plan.sha256)).for('key share');
    if (locked !== undefined) return;
    const [stored] = await tx.insert(executionPlans).values(plan).onConflictDoNothing().returning({ sha256 });
    // If nothing was inserted, another call has stored the plan in the meantime. It may be deleted again before it is
    // locked, so both steps are repeated.
    if (stored !== undefined) return;
  }
}

import { and, eq, notInArray, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agentProblems } from '#db/schema/index.ts';
import type { AgentProblem } from '#protocol/index.ts';

/** Maximum number of problems per VM. Beyond that, the oldest are deleted. */
const keptPerVm = 20;

/** Stores an agent's problems: the last message about each subject. */
export async function noteProblems(
  tx: Transaction,
  vmId: string,
  problems: readonly AgentProblem[],
  at: Date,
): Promise<void> {
  const last = new Map(problems.map(({ about, message, file = null }) => [about, { vmId, about, message, file, at }]));
  const rows = [...last.values()].toSorted((a, b) => (a.about < b.about ? -1 : 1)).slice(0, keptPerVm);
  if (rows.length === 0) return;
  await tx
    .insert(agentProblems)
    .values(rows)
    .onConflictDoUpdate({
      target: [agentProblems.vmId, agentProblems.about],
      set: { message: sql`excluded.message`, file: sql`excluded.file`, at: sql`excluded.at` },
    });
  const kept = tx
    .select({ about: agentProblems.about })
    .from(agentProblems)
    .where(eq(agentProblems.vmId, vmId))
    .orderBy(sql`${agentProblems.at} desc`)
    .limit(keptPerVm);
  await tx.delete(agentProblems).where(and(eq(agentProblems.vmId, vmId), notInArray(agentProblems.about, kept)));
}

import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agentRefusals } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';

/** Codes for the exceeded limits and rejected calls that a VM's page shows. Most are also error codes. */
export const refusalCodes = [
  'agent_unidentified',
  'counter_jumped',
  'report_bytes_exceeded',
  'goal_states_exceeded',
  'renewals_exceeded',
  'history_cleared',
] as const;
export type RefusalCode = (typeof refusalCodes)[number];

/**
 * Shows the rejection on the VM's page. Repetitions within a minute write nothing, so that an agent in a loop costs
 * little.
 */
export async function showRejection(tx: Transaction, vmId: string, code: RefusalCode, at: Date): Promise<void> {
  const { rowCount } = await tx
    .insert(agentRefusals)
    .values({ vmId, code, at })
    .onConflictDoUpdate({
      target: [agentRefusals.vmId, agentRefusals.code],
      set: { at },
      setWhere: sql`abs(extract(epoch from excluded.at - ${agentRefusals.at})) >= 60`,
    });
  if (rowCount) await recordChange(tx, 'vm', vmId);
}

import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agentRefusals } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';

/** Exceeded limits and rejected calls of a VM, as its page shows them; usually the error's code. */
export const refusalCodes = [
  'agent_unidentified',
  'counter_jumped',
  'report_bytes_exceeded',
  'goal_states_exceeded',
  'renewals_exceeded',
  'history_cleared',
] as const;
export type RefusalCode = (typeof refusalCodes)[number];

/** Shows the event on the VM's page. Writes nothing if repeated within a minute, so that a loop stays cheap. */
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

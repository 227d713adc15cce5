import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agentRefusals } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { ErrorCode } from '#server/domain/error.ts';

/** Limits of a VM that were exceeded and calls that were rejected, as its page shows them; mostly the error's code. */
export type RefusalCode =
  | Extract<ErrorCode, 'agent_unidentified' | 'counter_jumped' | 'report_bytes_exceeded' | 'goal_states_exceeded'>
  | 'renewals_exceeded'
  | 'history_cleared';

/** Shows on the VM's page that this happened. Repeated within a minute it writes nothing, so that a loop does not. */
export async function showRefusal(tx: Transaction, vmId: string, code: RefusalCode, at: Date): Promise<void> {
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

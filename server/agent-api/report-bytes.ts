import { DomainError } from '#server/domain/error.ts';
import { type AgentCall, contextOf } from './call.ts';
import type { KnownAgent } from './memory/agent-memory.ts';
import { refuseWhenSpent, spend } from './rate-limit.ts';

/**
 * Limits the bytes of reports that one VM sends to this process per hour, without a database statement. If the limit
 * has been reached, throws 429 `report_bytes_exceeded` and records the rejection for the VM's page.
 */
export async function rejectTooManyBytes(call: AgentCall, agent: KnownAgent): Promise<void> {
  const perHour = call.door.services.config.limits.vm.reportBytesPerHour;
  try {
    refuseWhenSpent(agent, perHour, call.door.clock().getTime());
  } catch (error) {
    if (error instanceof DomainError)
      await call.door.refusals.note(contextOf(call, agent), agent.vmId, 'report_bytes_exceeded');
    throw error;
  }
}

/** Counts the bytes of a received report, even if the report is rejected. */
export function countReportBytes(call: AgentCall, agent: KnownAgent, bytes: number): void {
  spend(agent, call.door.services.config.limits.vm.reportBytesPerHour, call.door.clock().getTime(), bytes);
}

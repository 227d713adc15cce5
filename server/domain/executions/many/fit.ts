import { inArray } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agents, executionChannels } from '#db/schema/index.ts';
import { executionLimits } from '#protocol/executions/index.ts';
import type { ErrorCode } from '#server/domain/error.ts';
import { amqpFileBytes } from '../execution-files.ts';
import { machineOf, type PlanMachine } from '../plan-machine.ts';
import { isRunnable, type RunOrder } from './run-order.ts';

/** A VM's machine and its channel; null if the machine fetches its executions over HTTPS. */
export interface FitMachine extends PlanMachine {
  dialect: 'annex' | 'murano' | null;
}

const none: FitMachine = { enrolledAt: null, kind: null, platforms: null, isOff: false, dialect: null };

/** Returns the machines of these VMs, by VM. */
export async function findMachines(tx: Transaction, vmIds: readonly string[]): Promise<(vmId: string) => FitMachine> {
  const { vmId, enrolledAt, kind, platforms } = agents;
  const found = await tx
    .select({ vmId, enrolledAt, kind, platforms })
    .from(agents)
    .where(inArray(vmId, [...vmIds]));
  const channels = await tx
    .select({ vmId: executionChannels.vmId, dialect: executionChannels.dialect })
    .from(executionChannels)
    .where(inArray(executionChannels.vmId, [...vmIds]));
  const machines = new Map(found.map((row) => [row.vmId, machineOf(row)]));
  const dialects = new Map(channels.map((row) => [row.vmId, row.dialect]));
  return (id) => ({ ...(machines.get(id) ?? none), dialect: dialects.get(id) ?? null });
}

/** Returns the code with which `queueExecution` would reject the order for a machine; null if it would queue it. */
export function refusalOf(order: RunOrder, { kind, platforms, isOff, dialect }: FitMachine): ErrorCode | null {
  const isMurano = dialect === 'murano';
  if (!isMurano && !isRunnable(order, platforms)) return 'plan_invalid';
  if (isOff) return 'executions_off';
  if (kind === 'stock' && dialect === null) return 'agent_without_executions';
  if (isMurano && Object.keys(order.secrets).length > 0) return 'secrets_need_sealing';
  if (isMurano && !order.isForMurano) return 'beyond_agent';
  const bytes = amqpFileBytes(order.files);
  const isTooLarge = bytes > 0 && bytes + Buffer.byteLength(order.text) > executionLimits.planBytes;
  return dialect !== null && isTooLarge ? 'files_too_large_for_amqp' : null;
}

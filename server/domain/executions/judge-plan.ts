import { eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { agents } from '#db/schema/index.ts';
import {
  type ExecutionPlan,
  executionLimits,
  type MachinePlatforms,
  type PlanCode,
  type PlanFault,
  readExecutionPlan,
} from '#protocol/executions/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parseJson } from '#server/platform/json.ts';

/** A valid plan with its text, or the faults of an invalid plan with their code. */
export type JudgedPlan =
  | { text: string; plan: ExecutionPlan; converted: boolean }
  | { code: PlanCode; faults: PlanFault[] };

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
  if (agent === undefined) return { enrolledAt: null, kind: null, platforms: null, isOff: false };
  const { enrolledAt, kind, platforms } = agent;
  return { enrolledAt, kind, platforms: platforms?.platforms ?? null, isOff: platforms?.executionPlans === 'off' };
}

/**
 * Validates a plan, given as a JSON value or as text. Throws 413 `json_too_large` above 4 MiB, and 422 `invalid` if the
 * text is not acceptable JSON.
 */
export function judgePlan(given: unknown, platforms: MachinePlatforms | null): JudgedPlan {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  const bytes = Buffer.from(text);
  const limit = executionLimits.planBytes;
  if (bytes.byteLength > limit) throw new DomainError('too_large', 'json_too_large', { params: { limit } });
  const { value, faults } = parseJson(bytes, { maxDepth: executionLimits.planDepth, oddities: 'refuse' });
  if (faults.length > 0) throw new DomainError('unprocessable', 'invalid', { faults });
  const read = readExecutionPlan(value, { platforms });
  return 'faults' in read ? read : { text, ...read };
}

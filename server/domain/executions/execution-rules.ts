import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Database, Transaction } from '#db/client.ts';
import { executionRules } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { approvalRules, type ExecutionRulesInput, executionRulesInput } from './input.ts';

export const shownExecutionRules = z.object({ approval: z.enum(approvalRules) });
export type ExecutionRules = z.infer<typeof shownExecutionRules>;

/** The id of the table's only row. */
const id = 1;

/** Returns the rules for executions, for admins. */
export async function getExecutionRules(ctx: Context): Promise<ExecutionRules> {
  allow(ctx.actor, 'admin');
  return readRules(ctx.db);
}

/** Sets which executions need approval. Executions that are already queued keep their state. */
export async function setExecutionRules(ctx: Context, input: ExecutionRulesInput): Promise<ExecutionRules> {
  allow(ctx.actor, 'admin');
  const { approval } = parse(executionRulesInput, input);
  return ctx.db.transaction(async (tx) => {
    const before = await readRules(tx);
    if (before.approval === approval) return before;
    const values = { approval, updatedAt: ctx.now };
    await tx
      .insert(executionRules)
      .values({ id, ...values })
      .onConflictDoUpdate({ target: executionRules.id, set: values });
    await recordAudit(tx, ctx, {
      action: 'execution-rules.set',
      target: { kind: 'execution-rules', id: 'execution-rules' },
      before,
      after: { approval },
      details: { approval },
    });
    await recordChange(tx, 'execution', '*');
    return { approval };
  });
}

/** Whether an execution must be approved by a second person. */
export async function needsApproval(tx: Transaction, { isPublished }: { isPublished: boolean }): Promise<boolean> {
  const { approval } = await readRules(tx);
  return approval === 'all' || (approval === 'unpublished' && !isPublished);
}

async function readRules(db: Database | Transaction): Promise<ExecutionRules> {
  const [row] = await db.select().from(executionRules).where(eq(executionRules.id, id));
  return { approval: row?.approval ?? 'none' };
}

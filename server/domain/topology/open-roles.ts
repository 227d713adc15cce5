import { and, asc, eq, lte, notInArray, or, type SQL, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agents, vmRoles, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { tellFabric } from './endpoint-rows.ts';

/**
 * Marks all roles of a model for deletion with one statement, and notifies the fabric. Roles of the VMs in `except` stay.
 * If a role is already marked, only `forced` can be added. Returns the number of roles.
 */
export async function markRolesOf(
  tx: Transaction,
  ctx: Context,
  modelId: string,
  { forced, except = [] }: { forced: boolean; except?: readonly string[] },
): Promise<number> {
  const marked = await tx
    .update(vmRoles)
    .set({
      state: 'deleting',
      leaseUntil: null,
      deletingAt: sql`coalesce(${vmRoles.deletingAt}, ${ctx.now.toISOString()}::timestamptz)`,
      forced: sql`${vmRoles.forced} or ${forced}`,
    })
    .where(and(eq(vmRoles.modelId, modelId), notInArray(vmRoles.vmId, [...except])))
    .returning({ cloudService: vmRoles.cloudService });
  await tellFabric(tx, ...new Set(marked.map(({ cloudService }) => cloudService)));
  return marked.length;
}

/** Whether the deletion of a role waits for the agent, which uninstalls extensions. */
const isWaiting: SQL = sql`(${vmRoles.state} = 'deleting' and not ${vmRoles.forced} and exists (
  select from ${vms} v where v.id = ${vmRoles.vmId} and v.decommissioning_at is not null and v.deleted_at is null)
  and exists (select from ${agents} a where a.vm_id = ${vmRoles.vmId}))`;

/**
 * Returns roles that the repair can delete now, the oldest first: those whose request did not complete within its lease,
 * and those that are marked, unless they wait for their agents. Roles that wait keep no others from being deleted.
 */
export async function findOpenRoles(
  { db, now }: Context,
  { limit, modelId }: { limit: number; modelId?: string },
): Promise<string[]> {
  const isOpen = or(eq(vmRoles.state, 'deleting'), and(eq(vmRoles.state, 'creating'), lte(vmRoles.leaseUntil, now)));
  const rows = await db
    .select({ vmId: vmRoles.vmId })
    .from(vmRoles)
    .where(and(isOpen, sql`not ${isWaiting}`, modelId === undefined ? undefined : eq(vmRoles.modelId, modelId)))
    .orderBy(asc(sql`coalesce(${vmRoles.deletingAt}, ${vmRoles.leaseUntil})`), asc(vmRoles.vmId))
    .limit(limit);
  return rows.map(({ vmId }) => vmId);
}

/** Returns how many roles wait for their agents. */
export const countWaitingRoles = ({ db }: Context): Promise<number> => db.$count(vmRoles, isWaiting);

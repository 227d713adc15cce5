import { and, desc, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import {
  agents,
  enrollmentTokens,
  extensions,
  goalStateHeads,
  goalStates,
  secrets,
  stockAgents,
} from '#db/schema/index.ts';
import { time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { needsReleaseSql } from '#server/domain/goal-states/index.ts';
import { hold, readHold } from '#server/domain/holds/index.ts';
import { getVm, vm } from '#server/domain/vms/index.ts';
import type { GetVmInput } from '#server/domain/vms/input.ts';
import { agentKind, system } from './machine.ts';
import { readVmRole, vmRole } from './topology/role-place.ts';

/** The facts in the header of a VM's page. */
export const vmFacts = vm.extend({
  agentKind: agentKind.nullable(),
  os: system.nullable(),
  /** SHA-1 of the certificate for which protected settings are encrypted. */
  thumbprint: z.string().nullable(),
  /**
   * When the machine enrolled, and the name of the actor who issued its enrollment token or, for a stock agent, granted
   * it access; null if unknown.
   */
  enrolledAt: time.nullable(),
  enrolledBy: z.string().nullable(),
  /** Whether protected settings of any extension are withheld from the machine's key until an admin releases them. */
  needsRelease: z.boolean(),
  /** Expiry of the valid enrollment token; null if there is none. */
  enrollmentExpiresAt: time.nullable(),
  /** Null if the VM is not on hold. */
  hold: hold.nullable(),
  /** Null if the VM belongs to no model. */
  role: vmRole.nullable(),
  goalState: z.object({ incarnation: z.number().int(), publishedAt: time, publishedBy: z.string() }).nullable(),
});
export type VmFacts = z.infer<typeof vmFacts>;

/** Reads the facts of a VM. Throws 404 `vm_unknown`. */
export async function getVmFacts(ctx: Context, input: GetVmInput): Promise<VmFacts> {
  const found = await getVm(ctx, input);
  const [[agent], [token], [goalState], withheld, held, role] = await Promise.all([
    ctx.db
      .select({
        kind: agents.kind,
        os: agents.os,
        thumbprint: agents.thumbprint,
        enrolledAt: agents.enrolledAt,
        enrolledBy: agents.enrolledBy,
        grantedBy: stockAgents.grantedBy,
      })
      .from(agents)
      .leftJoin(stockAgents, eq(stockAgents.vmId, agents.vmId))
      .where(eq(agents.vmId, found.id)),
    ctx.db
      .select({ expiresAt: enrollmentTokens.expiresAt })
      .from(enrollmentTokens)
      .where(
        and(eq(enrollmentTokens.vmId, found.id), isNull(enrollmentTokens.usedAt), isNull(enrollmentTokens.voidedAt)),
      ),
    ctx.db
      .select({
        incarnation: goalStates.incarnation,
        publishedAt: goalStates.publishedAt,
        publishedBy: goalStates.publishedBy,
      })
      .from(goalStates)
      .where(eq(goalStates.vmId, found.id))
      .orderBy(desc(goalStates.incarnation))
      .limit(1),
    ctx.db
      .select({ name: extensions.name })
      .from(extensions)
      .innerJoin(secrets, and(eq(secrets.vmId, extensions.vmId), eq(secrets.id, extensions.secretId)))
      .innerJoin(goalStateHeads, eq(goalStateHeads.vmId, extensions.vmId))
      .where(and(eq(extensions.vmId, found.id), needsReleaseSql))
      .limit(1),
    readHold(ctx.db, found.id),
    readVmRole(ctx.db, found.id),
  ]);
  return {
    ...found,
    agentKind: agent?.kind ?? null,
    os: agent?.os ?? null,
    thumbprint: agent?.thumbprint ?? null,
    enrolledAt: agent?.enrolledAt.toISOString() ?? null,
    enrolledBy: agent?.grantedBy ?? agent?.enrolledBy ?? null,
    needsRelease: withheld.length > 0,
    enrollmentExpiresAt: token && token.expiresAt > ctx.now ? token.expiresAt.toISOString() : null,
    hold: held,
    role,
    goalState: goalState ? { ...goalState, publishedAt: goalState.publishedAt.toISOString() } : null,
  };
}

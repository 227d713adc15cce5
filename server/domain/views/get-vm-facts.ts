import { and, desc, eq, isNull } from 'drizzle-orm';
import type { AgentOs } from '#db/schema/enrollment.ts';
import {
  agents,
  enrollmentTokens,
  extensions,
  goalStateHeads,
  goalStates,
  secrets,
  stockAgents,
} from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { needsReleaseSql } from '#server/domain/goal-states/index.ts';
import { getVm, type Vm } from '#server/domain/vms/index.ts';
import type { GetVmInput } from '#server/domain/vms/input.ts';

/** The facts in the header of a VM's page, beside its instance view. */
export interface VmFacts extends Vm {
  /** Null without an agent. */
  agentKind: 'reference' | 'stock' | null;
  os: AgentOs | null;
  /** SHA-1 of the certificate for which protected settings are encrypted. */
  thumbprint: string | null;
  /** When the machine enrolled, and the name of the issuer of its token; null if unknown. */
  enrolledAt: string | null;
  enrolledBy: string | null;
  /** Protected settings of an extension are withheld from that certificate until an admin releases them. */
  needsRelease: boolean;
  /** When an unused enrollment token expires; null without one. */
  enrollmentExpiresAt: string | null;
  goalState: { incarnation: number; publishedAt: string; publishedBy: string } | null;
}

/** Reads the facts of a VM. Throws 404 `vm_unknown`. */
export async function getVmFacts(ctx: Context, input: GetVmInput): Promise<VmFacts> {
  const vm = await getVm(ctx, input);
  const [[agent], [token], [goalState], withheld] = await Promise.all([
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
      .where(eq(agents.vmId, vm.id)),
    ctx.db
      .select({ expiresAt: enrollmentTokens.expiresAt })
      .from(enrollmentTokens)
      .where(and(eq(enrollmentTokens.vmId, vm.id), isNull(enrollmentTokens.usedAt), isNull(enrollmentTokens.voidedAt))),
    ctx.db
      .select({
        incarnation: goalStates.incarnation,
        publishedAt: goalStates.publishedAt,
        publishedBy: goalStates.publishedBy,
      })
      .from(goalStates)
      .where(eq(goalStates.vmId, vm.id))
      .orderBy(desc(goalStates.incarnation))
      .limit(1),
    ctx.db
      .select({ name: extensions.name })
      .from(extensions)
      .innerJoin(secrets, and(eq(secrets.vmId, extensions.vmId), eq(secrets.id, extensions.secretId)))
      .innerJoin(goalStateHeads, eq(goalStateHeads.vmId, extensions.vmId))
      .where(and(eq(extensions.vmId, vm.id), needsReleaseSql))
      .limit(1),
  ]);
  return {
    ...vm,
    agentKind: agent?.kind ?? null,
    os: agent?.os ?? null,
    thumbprint: agent?.thumbprint ?? null,
    enrolledAt: agent?.enrolledAt.toISOString() ?? null,
    enrolledBy: agent?.grantedBy ?? agent?.enrolledBy ?? null,
    needsRelease: withheld.length > 0,
    enrollmentExpiresAt: token && token.expiresAt > ctx.now ? token.expiresAt.toISOString() : null,
    goalState: goalState ? { ...goalState, publishedAt: goalState.publishedAt.toISOString() } : null,
  };
}

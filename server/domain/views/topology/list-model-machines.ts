import { and, eq, gt, inArray, isNull } from 'drizzle-orm';
import { enrollmentTokens, models, vmRoles } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { getModel } from '#server/domain/topology/index.ts';
import { type FleetRow, fleetRows } from '../fleet-rows.ts';
import { type ModelMachinesInput, modelMachinesInput } from '../input.ts';

/** What the page of a model shows of a machine, in addition to its role. */
export interface ModelMachine extends Pick<FleetRow, 'health' | 'agent' | 'reason' | 'decommissioning'> {
  vmId: string;
  /** Whether an agent is enrolled. It may not have called yet. */
  isEnrolled: boolean;
  /** Expiry of the valid enrollment token; null if there is none. */
  enrollmentExpiresAt: string | null;
  extensions: number;
}

/** Lists the machines of a model with their health and its reason, in the caller's language. Throws 404 `model_unknown`. */
export async function listModelMachines(ctx: Context, input: ModelMachinesInput): Promise<{ items: ModelMachine[] }> {
  allow(ctx.actor, 'viewer');
  const { model, ...reader } = parse(modelMachinesInput, input);
  await getModel(ctx, { model });
  const roles = await ctx.db
    .select({ vmId: vmRoles.vmId })
    .from(vmRoles)
    .innerJoin(models, and(eq(models.id, vmRoles.modelId), isNull(models.removedAt)))
    .where(eq(models.name, model))
    .orderBy(vmRoles.machine);
  const ids = roles.map(({ vmId }) => vmId);
  const [rows, expiryOf] = await Promise.all([fleetRows(ctx, ids, reader), readExpiries(ctx, ids)]);
  return {
    items: rows.map(({ id, health, agent, reason, decommissioning, agentKind, extensions }) => ({
      ...{ vmId: id, health, agent, reason, decommissioning },
      isEnrolled: agentKind !== null,
      enrollmentExpiresAt: expiryOf.get(id) ?? null,
      extensions: extensions.length,
    })),
  };
}

/** Reads when the valid enrollment tokens of these VMs expire. */
async function readExpiries({ db, now }: Context, vmIds: readonly string[]): Promise<Map<string, string>> {
  const { vmId, expiresAt, usedAt, voidedAt } = enrollmentTokens;
  const rows = await db
    .select({ vmId, expiresAt })
    .from(enrollmentTokens)
    .where(and(inArray(vmId, vmIds), isNull(usedAt), isNull(voidedAt), gt(expiresAt, now)));
  return new Map(rows.map((row) => [row.vmId, row.expiresAt.toISOString()]));
}

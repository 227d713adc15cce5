import { and, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { agents, cloudServices, units, vmRoles } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { readModel } from '#server/domain/topology/index.ts';
import { type GetUnitInput, getUnitInput } from '../input.ts';

/** How to connect to the machine of a unit. */
export const unitConnection = z
  .object({
    address: z.string().describe('The internal address of the machine, which only this unit’s machine has.'),
    through: z
      .string()
      .describe('The host that reaches it: the controllers’ name or, without controllers, the portal’s.'),
    command: z.string(),
  })
  .meta({ id: 'UnitConnection' });
export type UnitConnection = z.infer<typeof unitConnection>;

/**
 * Returns how to connect to a unit: by its internal address, through a controller or the portal, and never by the public
 * name that it shares with other units (JU-17). Throws 404 `model_unknown` | `unit_unknown`, 409 `unit_without_address`.
 */
export async function connectUnit(ctx: Context, input: GetUnitInput): Promise<UnitConnection> {
  allow(ctx.actor, 'operator');
  const { model: name, unit } = parse(getUnitInput, input);
  const { id: modelId } = await readModel(ctx.db, name);
  const [found] = await ctx.db
    .select({
      internal: agents.internalAddress,
      assigned: vmRoles.assignedAddress,
      userName: vmRoles.userName,
    })
    .from(units)
    .leftJoin(vmRoles, eq(vmRoles.vmId, units.vmId))
    .leftJoin(agents, eq(agents.vmId, units.vmId))
    .where(and(eq(units.modelId, modelId), eq(units.name, unit), isNull(units.removedAt)));
  if (found === undefined) throw new DomainError('not_found', 'unit_unknown');
  const address = found.internal ?? found.assigned;
  if (address === null) throw new DomainError('conflict', 'unit_without_address');
  const through = (await controllerName(ctx, modelId)) ?? new URL(ctx.config.url).hostname;
  const user = found.userName ?? 'annex';
  return { address, through, command: `ssh -J ${user}@${through} ${user}@${address}` };
}

/** Returns the DNS name of the cloud service of the controllers; null if the model has none. */
async function controllerName({ db }: Context, modelId: string): Promise<string | null> {
  const [row] = await db
    .select({ dnsName: cloudServices.dnsName })
    .from(cloudServices)
    .where(
      and(
        eq(cloudServices.modelId, modelId),
        eq(cloudServices.label, 'controller'),
        eq(cloudServices.state, 'ready'),
        isNull(cloudServices.goneAt),
      ),
    )
    .orderBy(cloudServices.name)
    .limit(1);
  return row?.dnsName ?? null;
}

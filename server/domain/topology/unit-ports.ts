import { and, eq, inArray, like } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { endpoints, vmRoles } from '#db/schema/index.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { type EndpointSource, openEndpoint } from '#server/domain/topology-rules/endpoints.ts';
import type { PortProtocol } from '#server/domain/topology-rules/words.ts';
import { noteProviderDue } from './call-due.ts';
import { readEndpoints, tellFabric } from './endpoint-rows.ts';
import type { RoleRow } from './find-role.ts';
import { topologyLimits } from './input.ts';
import { lockModelById } from './model-rows.ts';

/** A port with its protocol. */
export interface UnitPort {
  protocol: PortProtocol;
  port: number;
}

/** What a unit's hook opens and closes on its machine. */
export interface UnitPortChange {
  vmId: string;
  unit: string;
  open: readonly UnitPort[];
  close: readonly UnitPort[];
}

const sourceOf = (unit: string): EndpointSource => `unit:${unit}`;

/** Locks the model of a machine, which orders all changes of endpoints. Call it before the unit is locked. */
export async function lockPortsOf(tx: Transaction, vmId: string): Promise<void> {
  const [role] = await tx.select({ modelId: vmRoles.modelId }).from(vmRoles).where(eq(vmRoles.vmId, vmId));
  if (role !== undefined) await lockModelById(tx, role.modelId);
}

/**
 * Opens and closes ports of a unit's machine in the caller's transaction (EN-62). Throws 422 `port_conflict` |
 * `endpoints_too_many`.
 */
export async function changeUnitPorts(tx: Transaction, ctx: Context, change: UnitPortChange): Promise<void> {
  const { vmId, unit, open, close } = change;
  const [role] = await tx.select().from(vmRoles).where(eq(vmRoles.vmId, vmId));
  if (role === undefined) return;
  const source = sourceOf(unit);
  for (const { protocol, port } of close) {
    await tx
      .delete(endpoints)
      .where(
        and(
          ...[eq(endpoints.vmId, vmId), eq(endpoints.protocol, protocol), eq(endpoints.publicPort, port)],
          eq(endpoints.source, source),
        ),
      );
  }
  await openPorts(tx, ctx, role, source, open);
  await noteChange(tx, ctx, [role.cloudService]);
}

async function openPorts(
  tx: Transaction,
  ctx: Context,
  role: RoleRow,
  source: EndpointSource,
  ports: readonly UnitPort[],
): Promise<void> {
  if (ports.length === 0) return;
  const isBalanced = role.availabilitySet !== null;
  let all = await readEndpoints(tx, role.cloudService, role.deployment);
  for (const { protocol, port } of ports) {
    const opened = openEndpoint(all, { role: role.name, protocol, publicPort: port, isBalanced, source });
    if ('refusal' in opened) throw new DomainError('unprocessable', opened.refusal, { params: opened.params });
    all = opened.endpoints;
  }
  const own = all.filter((one) => one.role === role.name);
  const { endpoints: limit } = topologyLimits;
  if (own.length > limit) throw new DomainError('unprocessable', 'endpoints_too_many', { params: { limit } });
  const place = { vmId: role.vmId, cloudService: role.cloudService, deployment: role.deployment };
  const created = { ...place, createdAt: ctx.now, createdBy: source };
  const rows = own
    .filter((one) => one.source === source)
    .map(({ role: _, set: setName, ...rest }) => ({ ...rest, ...created, setName }));
  await tx.insert(endpoints).values(rows).onConflictDoNothing();
}

/** Closes all ports of units that leave or are removed. `units`: their names by VM. */
export async function closeUnitPorts(
  tx: Transaction,
  ctx: Pick<Context, 'now'>,
  units: readonly { vmId: string; name: string }[],
): Promise<void> {
  if (units.length === 0) return;
  const vmIds = [...new Set(units.map(({ vmId }) => vmId))];
  const opened = await tx
    .select()
    .from(endpoints)
    .where(and(inArray(endpoints.vmId, vmIds), like(endpoints.source, 'unit:%')));
  const services = new Set<string>();
  for (const { vmId, name } of units) {
    const own = opened.filter((one) => one.vmId === vmId && one.source === sourceOf(name));
    if (own.length === 0) continue;
    await tx.delete(endpoints).where(and(eq(endpoints.vmId, vmId), eq(endpoints.source, sourceOf(name))));
    for (const { cloudService } of own) services.add(cloudService);
  }
  await noteChange(tx, ctx, [...services].sort());
}

/** Has the fabric read the reachable ports of machines again, because services were exposed or hidden. */
export async function tellExposure(tx: Transaction, vmIds: readonly string[]): Promise<void> {
  const rows = await tx
    .selectDistinct({ cloudService: vmRoles.cloudService })
    .from(vmRoles)
    .where(inArray(vmRoles.vmId, [...vmIds]));
  await tellFabric(tx, ...rows.map(({ cloudService }) => cloudService).sort());
}

/** Notifies the provider, the fabric and open pages of the change. */
async function noteChange(tx: Transaction, ctx: Pick<Context, 'now'>, services: readonly string[]): Promise<void> {
  for (const service of services) await noteProviderDue(tx, ctx, service);
  await tellFabric(tx, ...services);
  await recordChanges(tx, 'model', services.length === 0 ? [] : ['*']);
}

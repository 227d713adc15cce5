import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { endpoints } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import {
  closeEndpoint as closeOf,
  openEndpoint,
  portText,
  type RoleEndpoint,
} from '#server/domain/topology-rules/endpoints.ts';
import { portProtocols } from '#server/domain/topology-rules/words.ts';
import { callAfterChange, noteProviderDue } from './call-due.ts';
import { readEndpoints, tellFabric } from './endpoint-rows.ts';
import { lockRole, type RoleRow } from './find-role.ts';
import {
  type CloseEndpointInput,
  closeEndpointInput,
  type SetEndpointInput,
  setEndpointInput,
  topologyLimits,
} from './input.ts';
import { localFabric } from './local-fabric.ts';
import { type ModelRow, updateModel } from './model-rows.ts';
import type { CloudProvider } from './provider.ts';

/** An endpoint of a role as the call that set it returns it. */
export const setEndpointAnswer = z.object({
  cloudService: z.string(),
  deployment: z.string(),
  role: z.string(),
  protocol: z.enum(portProtocols),
  publicPort: z.number().int(),
  localPort: z.number().int(),
  name: z.string(),
  set: z.string().nullable().describe('The load-balancing set; null if only this role has the port.'),
});
export type SetEndpointAnswer = z.infer<typeof setEndpointAnswer>;

/**
 * Opens a port of a role, or changes one that an operator opened. An identical request changes nothing. Throws 404
 * `role_instance_unknown`, 409 `port_conflict` | `endpoints_too_many` | `role_dying` | `model_dying` |
 * `legacy_instance_ambiguous`, 412 `model_changed`.
 */
export async function setEndpoint(
  ctx: Context,
  input: SetEndpointInput,
  provider: CloudProvider = localFabric(ctx),
): Promise<SetEndpointAnswer> {
  allow(ctx.actor, 'operator');
  const { instance, protocol, port: publicPort, localPort, set: isBalanced, ifMatch } = parse(setEndpointInput, input);
  const { answer, isChanged } = await ctx.db.transaction(async (tx) => {
    const { model, role } = await lockRole(tx, instance, ifMatch);
    const before = await readEndpoints(tx, role.cloudService, role.deployment);
    const opened = openEndpoint(before, {
      ...{ role: role.name, protocol, publicPort, localPort, isBalanced, source: 'operator' as const },
    });
    if ('refusal' in opened) throw new DomainError('conflict', opened.refusal, { params: opened.params });
    const endpoint = own(opened.endpoints, role, protocol, publicPort);
    const former = own(before, role, protocol, publicPort);
    if (endpoint === undefined) throw new Error('the endpoint was not opened');
    const { source: _, ...shown } = endpoint;
    const placed = { cloudService: role.cloudService, deployment: role.deployment };
    const changed = { answer: { ...placed, ...shown }, isChanged: JSON.stringify(former) !== JSON.stringify(endpoint) };
    if (!changed.isChanged) return changed;
    if (former === undefined) requireRoom(before, role);
    await write(tx, ctx, role, endpoint);
    await recordEndpoint(tx, ctx, { model, role, before: former, after: endpoint });
    return changed;
  });
  if (isChanged) await callAfterChange(ctx, provider, answer.cloudService);
  return answer;
}

/**
 * Closes a port that an operator opened. Throws 404 `role_instance_unknown` | `endpoint_unknown`, 409 `endpoint_fixed` |
 * `role_dying` | `model_dying` | `legacy_instance_ambiguous`, 412 `model_changed`.
 */
export async function closeEndpoint(
  ctx: Context,
  input: CloseEndpointInput,
  provider: CloudProvider = localFabric(ctx),
): Promise<void> {
  allow(ctx.actor, 'operator');
  const { instance, protocol, port: publicPort, ifMatch } = parse(closeEndpointInput, input);
  const service = await ctx.db.transaction(async (tx) => {
    const { model, role } = await lockRole(tx, instance, ifMatch);
    const all = await readEndpoints(tx, role.cloudService, role.deployment);
    const before = own(all, role, protocol, publicPort);
    if (before === undefined) throw new DomainError('not_found', 'endpoint_unknown');
    const left = closeOf(all, { role: role.name, protocol, publicPort, source: 'operator' });
    if (left.length === all.length) throw new DomainError('conflict', 'endpoint_fixed');
    await tx
      .delete(endpoints)
      .where(
        and(eq(endpoints.vmId, role.vmId), eq(endpoints.protocol, protocol), eq(endpoints.publicPort, publicPort)),
      );
    await recordEndpoint(tx, ctx, { model, role, before, after: undefined });
    return role.cloudService;
  });
  await callAfterChange(ctx, provider, service);
}

const own = (
  all: readonly RoleEndpoint[],
  { name }: RoleRow,
  protocol: string,
  publicPort: number,
): RoleEndpoint | undefined =>
  all.find((one) => one.role === name && one.protocol === protocol && one.publicPort === publicPort);

function requireRoom(all: readonly RoleEndpoint[], { name }: RoleRow): void {
  const { endpoints: limit } = topologyLimits;
  if (all.filter(({ role }) => role === name).length < limit) return;
  throw new DomainError('conflict', 'endpoints_too_many', { params: { limit } });
}

async function write(tx: Transaction, ctx: Context, role: RoleRow, endpoint: RoleEndpoint): Promise<void> {
  const { role: _, set: setName, protocol, publicPort, ...rest } = endpoint;
  const key = { vmId: role.vmId, protocol, publicPort };
  const place = { cloudService: role.cloudService, deployment: role.deployment };
  await tx
    .insert(endpoints)
    .values({ ...key, ...place, setName, ...rest, createdAt: ctx.now, createdBy: ctx.actor.name })
    .onConflictDoUpdate({
      target: [endpoints.vmId, endpoints.protocol, endpoints.publicPort],
      set: { setName, ...rest },
    });
}

/** Records a change of an endpoint, and notifies the provider, the fabric and open pages. */
async function recordEndpoint(
  tx: Transaction,
  ctx: Context,
  change: {
    model: ModelRow;
    role: RoleRow;
    before: RoleEndpoint | undefined;
    after: RoleEndpoint | undefined;
  },
): Promise<void> {
  const { model, role, before, after } = change;
  const shown = (one: RoleEndpoint | undefined) => one && { localPort: one.localPort, set: one.set };
  const endpoint = after ?? before;
  await recordAudit(tx, ctx, {
    action: after === undefined ? 'endpoint.close' : 'endpoint.set',
    target: { kind: 'model', id: model.name },
    vmId: role.vmId,
    before: shown(before),
    after: shown(after),
    details: { machine: role.hostname, port: endpoint === undefined ? '' : portText(endpoint) },
  });
  await noteProviderDue(tx, ctx, role.cloudService);
  await tellFabric(tx, role.cloudService);
  await updateModel(tx, model);
}

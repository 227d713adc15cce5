import { and, eq, inArray, isNull } from 'drizzle-orm';
import { agentPresence, availabilitySets, cloudServices, models, units } from '#db/schema/index.ts';
import { negotiate, type WantedLanguage } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import { isoOrNull } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { storedConcerns } from '#server/domain/health/index.ts';
import { parse } from '#server/domain/parse.ts';
import { stageOf } from '#server/domain/service-rules/stage.ts';
import { readUnitHealth } from '#server/domain/services/index.ts';
import { readCloudServices } from '#server/domain/topology/index.ts';
import { rolesInSet } from '#server/domain/topology-rules/deployments.ts';
import { agentStatus, bySeverity, evaluateVmHealth } from '#server/domain/verdicts/index.ts';
import { instanceOf, reportedLength, speaker } from '../extension-instance.ts';
import { type DeploymentInput, deploymentInput } from '../input.ts';
import { loadMessages, loadRows } from '../load-instance.ts';
import { distributeBytes } from '../view-bytes.ts';
import type { DeploymentView, RoleExtension } from './deployment-view.ts';

/**
 * Returns what is in a slot of a cloud service: the deployment with its availability set and, for each role, the agent,
 * the endpoints, the units, and the extensions with heartbeat and status in the caller's language (JU-21). The number of
 * statements does not depend on the number of roles. Throws 404 `cloud_service_unknown` | `slot_empty`.
 */
export async function getDeployment(ctx: Context, input: DeploymentInput): Promise<DeploymentView> {
  allow(ctx.actor, 'viewer');
  const { cloudService, slot, ...reader } = parse(deploymentInput, input);
  const { modelId, availabilitySet, ...place } = await readPlace(ctx, cloudService);
  const {
    cloudServices: [service],
  } = await readCloudServices(ctx, modelId, cloudService);
  const deployment = service?.deployments.find((one) => one.slot === slot);
  if (service === undefined || deployment === undefined) {
    throw new DomainError('not_found', 'slot_empty', { params: { service: cloudService, slot } });
  }
  const { label, dnsName, publicAddress } = service;
  const { name, covered, roles, endpoints } = deployment;
  const ids = roles.map(({ vmId }) => vmId);
  const { describe, languages } = await describeInstances(ctx, ids, negotiate(reader));
  return {
    ...{ cloudService, ...place, label, dnsName, publicAddress, slot, deployment: name },
    availabilitySet:
      availabilitySet === null ? null : { name: availabilitySet, roles: rolesInSet(roles).length, covered },
    roles: roles.map(({ id: instanceId, machine, vmId, vm, hostname, role, controller, state, ...addresses }) => ({
      ...{ instanceId, machine, vmId, vm, hostname, role, controller, state },
      assignedAddress: addresses.assignedAddress,
      internalAddress: addresses.internalAddress,
      endpoints: endpoints.filter((one) => one.role === role).map(({ role: _, ...rest }) => rest),
      ...describe(vmId),
    })),
    languages,
  };
}

/** Reads the model of a cloud service, and its availability set. Throws 404 `cloud_service_unknown`. */
async function readPlace({ db }: Context, service: string) {
  const [row] = await db
    .select({
      modelId: models.id,
      model: models.name,
      affinityGroup: models.affinityGroup,
      availabilitySet: availabilitySets.name,
    })
    .from(cloudServices)
    .innerJoin(models, eq(models.id, cloudServices.modelId))
    .leftJoin(availabilitySets, eq(availabilitySets.cloudService, cloudServices.name))
    .where(and(eq(cloudServices.name, service), isNull(cloudServices.goneAt)));
  if (row === undefined) throw new DomainError('not_found', 'cloud_service_unknown');
  return row;
}

/** Loads the agents and extensions of these VMs, and returns a function that describes one of them. */
async function describeInstances(ctx: Context, vmIds: readonly string[], wanted: readonly WantedLanguage[]) {
  // One snapshot, so that the goals and the reports match.
  const { presences, rows, messages, concerns, present } = await ctx.db.transaction(
    async (tx) => {
      const presences = await tx.select().from(agentPresence).where(inArray(agentPresence.vmId, vmIds));
      const rows = await loadRows(tx, vmIds);
      const concerns = await storedConcerns(tx, vmIds);
      const present = await readUnitHealth(tx, inArray(units.vmId, [...vmIds]), ctx.now);
      return { presences, rows, concerns, present, messages: await loadMessages(tx, rows, wanted) };
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  );
  const presenceOf = new Map(presences.map((presence) => [presence.vmId, presence]));
  const languages = new Set<string>();
  const instances = distributeBytes(rows, reportedLength, (row, share) => {
    const presence = presenceOf.get(row.vmId) ?? null;
    const say = speaker(messages, row, wanted, { languages, share });
    const agent = { ...presence, status: agentStatus(presence, ctx.now) };
    return { vmId: row.vmId, extension: shown(instanceOf(ctx, row, agent, null, { say, share })) };
  });
  const extensionsOf = Map.groupBy(instances, ({ vmId }) => vmId);
  const unitsOf = Map.groupBy(present, ({ unit }) => unit.vmId);
  const describe = (vmId: string) => {
    const presence = presenceOf.get(vmId) ?? null;
    const status = agentStatus(presence, ctx.now);
    const extensions = (extensionsOf.get(vmId) ?? []).map(({ extension }) => extension).sort(bySeverity);
    const own = (unitsOf.get(vmId) ?? []).map(({ unit, health, cause }) => {
      return { unit: unit.name, stage: stageOf({ ...unit, removedAt: null }), health, cause };
    });
    const concern = concerns.get(vmId);
    const health = evaluateVmHealth(
      status,
      [...extensions, ...(concern === undefined ? [] : [concern])].map((one) => one.health),
    );
    return { agent: { status, lastSeenAt: isoOrNull(presence?.lastSeenAt) }, health, units: own, extensions };
  };
  return { describe, languages: [...languages] };
}

function shown({ name, handler, goal, goalVersion, version, health, ...rest }: RoleExtension): RoleExtension {
  const { cause, done, heartbeat, status } = rest;
  return { name, handler, goal, goalVersion, version, health, cause, done, heartbeat, status };
}

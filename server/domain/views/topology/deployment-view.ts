import { z } from 'zod';
import { count, time } from '#server/domain/answers.ts';
import { unit } from '#server/domain/services/index.ts';
import { endpointView, instance } from '#server/domain/topology/index.ts';
import { slots } from '#server/domain/topology-rules/words.ts';
import { agentStatuses, vmHealths } from '#server/domain/verdicts/index.ts';
import { extensionInstance } from '../instance-view.ts';

/** An extension of a role instance: its goal, and its latest heartbeat and status. */
const roleExtension = extensionInstance.pick({
  name: true,
  handler: true,
  goal: true,
  goalVersion: true,
  version: true,
  health: true,
  cause: true,
  done: true,
  heartbeat: true,
  status: true,
});
export type RoleExtension = z.infer<typeof roleExtension>;

/** A unit on a role instance. */
const roleUnit = unit.pick({ unit: true, stage: true, health: true, cause: true });

const roleInstanceView = instance
  .pick({
    machine: true,
    vmId: true,
    vm: true,
    hostname: true,
    role: true,
    controller: true,
    state: true,
    assignedAddress: true,
    internalAddress: true,
  })
  .extend({
    instanceId: z.string(),
    endpoints: z.array(endpointView.omit({ role: true })),
    agent: z.object({ status: z.enum(agentStatuses), lastSeenAt: time.nullable() }),
    health: z.enum(vmHealths),
    units: z.array(roleUnit).describe('By service and number.'),
    /** Sorted by health, worst first, then by name. */
    extensions: z.array(roleExtension),
  });

/** A deployment of a cloud service, with the instance view of each of its roles (JU-21). */
export const deploymentView = z.object({
  cloudService: z.string(),
  model: z.string(),
  label: z.literal('controller').nullable(),
  dnsName: z.string().nullable(),
  publicAddress: z.string().nullable().describe('The public address, which leads to the roles in Production only.'),
  affinityGroup: z.string(),
  slot: z.enum(slots),
  deployment: z.string(),
  availabilitySet: z
    .object({
      name: z.string(),
      roles: count.describe('Number of its roles in this deployment, without roles that are being deleted.'),
      covered: z.boolean().describe('Whether the 99.95% agreement covers the deployment: two roles or more.'),
    })
    .nullable()
    .describe('Null in a model without availability sets.'),
  roles: z.array(roleInstanceView),
  /** The languages of the messages, for `Content-Language`. */
  languages: z.array(z.string()),
});
export type DeploymentView = z.infer<typeof deploymentView>;

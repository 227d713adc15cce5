import { z } from 'zod';
import { count, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { vmId } from '#server/domain/vms/input.ts';
import type { CreatedInstance } from './create-instance.ts';

/** A new machine, with what is shown only once: the enrollment token and the password of the first user. */
export const newMachine = z
  .object({
    machine: count.describe('The number of the machine in its model.'),
    vmId,
    vm: z.string().describe('The name of the VM.'),
    instanceId: z.string(),
    cloudService: z.string(),
    hostname: z.string(),
    userName: z.string(),
    password: z.string().describe('The password of the first user. It is shown only in this response.'),
    assignedAddress: z.string().describe('The internal address that the provider assigned.'),
    enrollmentToken: z.string(),
    enrollmentExpiresAt: time,
    command: z.string().describe('The command that enrolls the machine.'),
    startsAgents: z
      .boolean()
      .describe('Whether the portal starts agents for new machines (ANNEX_FABRIC=spawn), at most 20 of them.'),
  })
  .meta({ id: 'NewMachine' });
export type NewMachine = z.infer<typeof newMachine>;

/** What an agent sends about its role when it enrolls. The address is null until the provider has assigned it. */
export const statedInstance = z.object({ id: z.string(), internalAddress: z.string().nullable() });

/** Returns the command that enrolls a machine, as the instance of a role if its VM is one. */
export function enrollCommand(
  { gatewayUrl }: Pick<Context['config'], 'gatewayUrl'>,
  token: string,
  instance: z.infer<typeof statedInstance> | null,
): string {
  const options = [
    ...(instance === null ? [] : [`--instance-id ${instance.id}`]),
    ...(instance?.internalAddress ? [`--internal-address ${instance.internalAddress}`] : []),
  ];
  return [`annex-agent enroll --dir /var/lib/annex-agent --portal ${gatewayUrl} --token ${token}`, ...options].join(
    ' ',
  );
}

/** Returns a new machine as its creator sees it. */
export function showNewMachine(
  { config }: Pick<Context, 'config'>,
  { vm, role, instanceId, password, assignedAddress }: CreatedInstance,
): NewMachine {
  if (vm.enrollmentToken === null) throw new Error('an adopted machine has no enrollment');
  const { enrollmentToken, enrollmentExpiresAt } = vm;
  const command = enrollCommand(config, enrollmentToken, { id: instanceId, internalAddress: assignedAddress });
  const { machine, cloudService, hostname, userName } = role;
  return {
    ...{ machine, vmId: vm.id, vm: vm.name, instanceId, cloudService, hostname, userName, password },
    ...{ assignedAddress, enrollmentToken, enrollmentExpiresAt, command },
    startsAgents: config.fabric.mode === 'spawn',
  };
}

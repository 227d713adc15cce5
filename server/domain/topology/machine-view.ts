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
  })
  .meta({ id: 'NewMachine' });
export type NewMachine = z.infer<typeof newMachine>;

/** Returns a new machine as its creator sees it. */
export function showNewMachine(
  { config }: Pick<Context, 'config'>,
  { vm, role, instanceId, password, assignedAddress }: CreatedInstance,
): NewMachine {
  const { enrollmentToken, enrollmentExpiresAt } = vm;
  const command = `annex-agent enroll --dir /var/lib/annex-agent --portal ${config.url} --token ${enrollmentToken} --instance-id ${instanceId} --internal-address ${assignedAddress}`;
  const { machine, cloudService, hostname, userName } = role;
  return {
    ...{ machine, vmId: vm.id, vm: vm.name, instanceId, cloudService, hostname, userName, password },
    ...{ assignedAddress, enrollmentToken, enrollmentExpiresAt, command },
  };
}

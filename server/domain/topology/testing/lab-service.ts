import { eq } from 'drizzle-orm';
import { deployments, endpoints, vmRoles } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { enrollAgent } from '#server/domain/enrollment/index.ts';
import { testContext } from '#server/testing/context.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { bindInstance } from '../index.ts';
import type { NewMachine } from '../machine-view.ts';
import type { Stage, Staged } from './stage.ts';

/** Enrolls a machine as the instance of its role, as its agent does. */
export async function enrollMachine(
  ctx: Context,
  { enrollmentToken, instanceId: id, assignedAddress }: NewMachine,
  address: string = assignedAddress,
): Promise<void> {
  const anonymous = await testContext({ services: ctx, role: null });
  const request = { enrollmentToken, certificate: newKeyPair().certificate, agent: { name: 'test', version: '1' } };
  await enrollAgent(anonymous, { ...request, instance: { id, address } }, bindInstance);
}

/** A cloud service with two roles. */
export interface LabService extends Staged {
  service: string;
  /** The two roles, in Production. */
  first: NewMachine;
  second: NewMachine;
}

/** Creates a cloud service with two roles: the controllers of a model with availability sets. */
export async function newService(stage: Stage): Promise<LabService> {
  const staged = await stage.bootstrapped({ availabilitySetsEnabled: true, controllers: 2 });
  const [first, second] = staged.newMachines;
  if (first === undefined || second === undefined) throw new Error('two controllers were requested');
  return { ...staged, service: first.cloudService, first, second };
}

/** Moves a role to a deployment in Staging, as the units of a staged version will be. Returns the deployment’s name. */
export async function stageRole({ db }: Context, { vmId, cloudService }: NewMachine): Promise<string> {
  const name = `${cloudService}-v3`;
  const [from] = await db.select().from(deployments).where(eq(deployments.cloudService, cloudService));
  if (from === undefined) throw new Error('the cloud service has no deployment');
  await db.insert(deployments).values({ ...from, name, slot: 'staging' });
  await db.update(vmRoles).set({ deployment: name }).where(eq(vmRoles.vmId, vmId));
  await db.update(endpoints).set({ deployment: name }).where(eq(endpoints.vmId, vmId));
  return name;
}

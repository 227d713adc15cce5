import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { Context, Services } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { fetchGoalState, setExtension } from '#server/domain/goal-states/index.ts';
import type { extensionGoal } from '#server/domain/goal-states/input.ts';
import { testContext } from './context.ts';

/** A VM, with functions that act as its operator and its agent. */
export interface GivenVm {
  vmId: string;
  name: string;
  /** Declares or changes an extension; by default, `Acme.Lab.Probe` 1.0.0.0, enabled. Returns its sequence number. */
  declare(name: string, goal?: Partial<z.input<typeof extensionGoal>>): Promise<number>;
  /** Fetches the goal state as the VM's agent. */
  deliver(now?: Date): Promise<void>;
  /** Returns a context with the VM's agent as actor. */
  agent(now?: Date): Promise<Context>;
}

/** Creates a VM without extensions. */
export async function givenVm(services: Services, prefix = 'vm'): Promise<GivenVm> {
  const operator = await testContext({ services, role: 'operator' });
  const name = `${prefix}-${randomUUID().slice(0, 8)}`;
  const { id: vmId } = await registerVm(operator, { name });
  return givenExistingVm(services, { vmId, name });
}

/** Returns the functions that act as the operator and the agent of a VM that exists, such as a machine of a model. */
export async function givenExistingVm(
  services: Services,
  { vmId, name }: Pick<GivenVm, 'vmId' | 'name'>,
): Promise<GivenVm> {
  const operator = await testContext({ services, role: 'operator' });
  return {
    vmId,
    name,
    async declare(extension, goal = {}) {
      const full = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const, ...goal };
      const now = new Date();
      return (await setExtension({ ...operator, now }, { vmId, name: extension, goal: full })).sequenceNumber;
    },
    async deliver(now = new Date()) {
      await fetchGoalState(services.db, vmId, now);
    },
    agent: (now = new Date()) =>
      testContext({ services, now, actor: { kind: 'agent', id: vmId, name, role: null, namespaces: [] } }),
  };
}

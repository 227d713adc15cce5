import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { KeyedLock } from '#server/platform/keyed-lock.ts';
import { slot } from '#server/platform/process-memory.ts';
import type { ExtensionGoalInput } from './declare.ts';
import { getExtension } from './get-extension.ts';
import {
  type ChangeProtectedSettingsInput,
  changeProtectedSettingsInput,
  type PlanProtectedSettingsInput,
  planProtectedSettingsInput,
} from './input.ts';
import type { Plan } from './plan.ts';
import { planExtension } from './plan-extension.ts';
import { type ExtensionReceipt, setExtension } from './set-extension.ts';

/** Maximum number of attempts if other changes publish a goal state at the same time. */
const maxAttempts = 20;

/**
 * Runs calls without `ifMatch` for the same VM one after the other. Otherwise, simultaneous calls would make each other
 * fail.
 */
const vmLock = slot(() => new KeyedLock());

/**
 * Changes and removes individual protected settings of an extension. The other settings and the rest of the declaration
 * do not change. Throws 404 `extension_absent`; 409 `secrets_custody` if the portal cannot read the stored settings,
 * `secrets_not_object`, `secrets_withheld`; 422 with every schema fault of the result; and the other errors of
 * `setExtension`.
 */
export async function changeProtectedSettings(
  ctx: Context,
  input: ChangeProtectedSettingsInput,
): Promise<ExtensionReceipt> {
  allow(ctx.actor, 'operator');
  const { vmId, name, changes, ifMatch, plan } = parse(changeProtectedSettingsInput, input);
  const change = async () => {
    const { goal, incarnation } = await declaredGoal(ctx, vmId, name);
    return setExtension(ctx, { vmId, name, goal, changes, ifMatch: ifMatch ?? incarnation, plan });
  };
  if (ifMatch !== undefined) return change();
  return ctx.memory.of(vmLock).run(vmId, () => startingOver(change));
}

/** Plans `changeProtectedSettings` with the same input, without writing. The result includes the faults. */
export async function planProtectedSettings(ctx: Context, input: PlanProtectedSettingsInput): Promise<Plan> {
  allow(ctx.actor, 'operator');
  const { vmId, name, changes } = parse(planProtectedSettingsInput, input);
  return startingOver(async () => {
    const { goal } = await declaredGoal(ctx, vmId, name);
    return planExtension(ctx, { vmId, name, goal, changes });
  });
}

/**
 * Runs `attempt` again if the goal state changed in the meantime, because the declaration is read before the VM is
 * locked.
 */
async function startingOver<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let left = maxAttempts; ; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      const isMovedOn = error instanceof DomainError && error.code === 'goal_state_moved_on';
      if (!isMovedOn || left <= 1) throw error;
    }
  }
}

/** Reads the current declaration. A change to individual protected settings keeps everything else in it. */
async function declaredGoal(
  ctx: Context,
  vmId: string,
  name: string,
): Promise<{ goal: ExtensionGoalInput; incarnation: number }> {
  const extension = await getExtension(ctx, { vmId, name });
  if (extension.state === 'uninstall') throw new DomainError('conflict', 'uninstalling', { params: { name } });
  return {
    incarnation: extension.incarnation,
    goal: {
      handler: extension.handler,
      version: extension.requestedVersion,
      state: extension.state,
      autoUpgradeMinorVersion: extension.autoUpgradeMinorVersion,
      dependsOn: extension.dependsOn,
      timeouts: extension.timeouts,
      settings: { publicSettings: extension.publicSettings },
    },
  };
}

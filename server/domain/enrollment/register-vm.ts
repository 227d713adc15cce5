import type { Transaction } from '#db/client.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { beginGoalStates } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { insertVm } from '#server/domain/vms/index.ts';
import { type RegisterVmInput, registerVmInput } from './input.ts';
import { type Enrollment, issueToken } from './issue-token.ts';

/** Creates a VM with an empty goal state and an enrollment token. Throws 409 `vm_name_taken`. */
export async function registerVm(ctx: Context, input: RegisterVmInput): Promise<Enrollment> {
  allow(ctx.actor, 'operator');
  const values = parse(registerVmInput, input);
  return ctx.db.transaction((tx) => registerVmIn(tx, ctx, values));
}

/** Like `registerVm`, in the caller's transaction. A machine of a model also has an instance id. */
export async function registerVmIn(
  tx: Transaction,
  ctx: Context,
  values: Parameters<typeof insertVm>[2],
): Promise<Enrollment> {
  const vm = await insertVm(tx, ctx, values);
  await beginGoalStates(tx, ctx, vm.id);
  const token = await issueToken(tx, ctx, vm.id);
  return { id: vm.id, name: vm.name, ...token };
}

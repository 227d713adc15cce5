import { and, eq, isNull } from 'drizzle-orm';
import { vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type GetVmInput, getVmInput } from './input.ts';
import { type Vm, vmOf } from './vm.ts';

/** Reads one VM. Throws 404 `vm_unknown` if the VM does not exist or was deleted. */
export async function getVm(ctx: Context, input: GetVmInput): Promise<Vm> {
  allow(ctx.actor, 'viewer');
  const { vmId } = parse(getVmInput, input);
  const [row] = await ctx.db
    .select()
    .from(vms)
    .where(and(eq(vms.id, vmId), isNull(vms.deletedAt)));
  if (!row) throw new DomainError('not_found', 'vm_unknown');
  return vmOf(row);
}

import { and, eq, isNull } from 'drizzle-orm';
import { vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type UpdateVmInput, updateVmInput } from './input.ts';
import { mergeNameAndTags } from './merge-name-and-tags.ts';
import { rejectTakenName } from './name-taken.ts';
import { type Vm, vmOf } from './vm.ts';

/**
 * Renames or retags a VM; absent fields do not change. With `seen`, only what differs from `seen` is written. Throws
 * 404 `vm_unknown`, 409 `vm_name_taken`, or 412 `vm_moved_on` if someone else has since changed the name or the same
 * tag to a different value.
 */
export async function updateVm(ctx: Context, input: UpdateVmInput): Promise<Vm> {
  allow(ctx.actor, 'operator');
  const { vmId, seen, ...given } = parse(updateVmInput, input);
  return ctx.db.transaction(async (tx) => {
    const [before] = await tx
      .select()
      .from(vms)
      .where(and(eq(vms.id, vmId), isNull(vms.deletedAt)))
      .for('no key update');
    if (!before) throw new DomainError('not_found', 'vm_unknown');
    const wanted = { name: given.name ?? before.name, tags: given.tags ?? before.tags };
    const after = seen === undefined ? wanted : mergeNameAndTags(seen, wanted, before);
    if (after === null) throw new DomainError('precondition_failed', 'vm_moved_on', { params: { name: before.name } });
    const [row] = await rejectTakenName(after.name, tx.update(vms).set(after).where(eq(vms.id, vmId)).returning());
    if (!row) throw new Error('the VM was not written');
    await recordAudit(tx, ctx, {
      action: 'vm.update',
      target: { kind: 'vm', id: vmId },
      vmId,
      before: { name: before.name, tags: before.tags },
      after,
      details: { name: after.name },
    });
    await recordChange(tx, 'vm', vmId);
    return vmOf(row);
  });
}

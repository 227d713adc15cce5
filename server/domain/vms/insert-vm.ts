import { v7 as uuid } from 'uuid';
import type { Transaction } from '#db/client.ts';
import { vms } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { rejectTakenName } from './name-taken.ts';
import { type Vm, vmOf } from './vm.ts';

/** Writes a new VM in the caller's transaction. Throws 409 `vm_name_taken`. */
export async function insertVm(
  tx: Transaction,
  ctx: Context,
  values: { name: string; tags: Record<string, string>; instanceId?: string; disruptionGroup?: string | null },
): Promise<Vm> {
  const [row] = await rejectTakenName(
    values.name,
    tx
      .insert(vms)
      .values({ id: uuid(), ...values, createdAt: ctx.now, createdBy: ctx.actor.name })
      .returning(),
  );
  if (!row) throw new Error('the VM was not written');
  await recordAudit(tx, ctx, {
    action: 'vm.create',
    target: { kind: 'vm', id: row.id },
    vmId: row.id,
    after: { name: row.name, tags: row.tags },
    details: { name: row.name },
  });
  return vmOf(row);
}

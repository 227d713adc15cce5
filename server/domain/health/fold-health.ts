import { dropHealthChecks } from '#server/domain/changes/index.ts';
import type { Services } from '#server/domain/context.ts';
import type { ReadConcerns } from './concerns.ts';
import { evaluateVm } from './evaluate-vm.ts';
import { loadVmHealthFacts, lockDue } from './load.ts';
import { writeHealthUpdates } from './write.ts';

/** VMs per transaction; few enough that reports do not wait long. */
const batchVms = 500;

/**
 * Updates the health that the lists, the overview and the map read: evaluates up to `limit` VMs that changed or aged
 * (`markAged`), and writes the differences. Concurrent calls share the work. `readConcerns` returns what impairs them
 * besides extensions; without it, that stays as it is stored. Returns the number of evaluated VMs.
 */
export async function foldHealth(
  { db }: Pick<Services, 'db'>,
  now: Date,
  { limit = Number.POSITIVE_INFINITY, readConcerns }: { limit?: number; readConcerns?: ReadConcerns } = {},
): Promise<number> {
  for (let done = 0; ; ) {
    const most = Math.min(batchVms, limit - done);
    const taken = await db.transaction(async (tx) => {
      const vmIds = await lockDue(tx, now, most);
      if (vmIds.length === 0) return 0;
      const vms = await loadVmHealthFacts(tx, vmIds);
      const present = vms.filter(({ deleted }) => !deleted);
      const concerns = await readConcerns?.(tx, vmIds, now);
      const none = concerns && { concern: null, changesAt: null };
      await writeHealthUpdates(
        tx,
        present.map((vm) => evaluateVm(vm, now, concerns?.get(vm.id) ?? none)),
        now,
      );
      await dropHealthChecks(
        tx,
        vms.filter(({ deleted }) => deleted).map(({ id }) => id),
      );
      return vmIds.length;
    });
    done += taken;
    if (taken < most || done >= limit) return done;
  }
}

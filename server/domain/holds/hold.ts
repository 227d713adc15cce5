import { z } from 'zod';
import type { holds } from '#db/schema/index.ts';
import { count, time } from '#server/domain/answers.ts';
import { vmId } from '#server/domain/vms/input.ts';

/** A hold: until it ends, the VM's agent gets no new goal state. */
export const hold = z
  .object({
    reason: z.string().nullable().describe('Null if the hold has no reason.'),
    heldAt: time,
    heldBy: z.string().describe('Who set the hold or last changed it.'),
    until: time.nullable().describe('When the hold ends; null if it lasts until someone releases it.'),
  })
  .meta({ id: 'Hold' });
export type Hold = z.infer<typeof hold>;

/** The result of setting or releasing a hold: the hold that the VM has now, and the current incarnation. */
export const heldVm = z.object({ vmId, hold: hold.nullable(), incarnation: count });
export type HeldVm = z.infer<typeof heldVm>;

type Row = Pick<typeof holds.$inferSelect, 'since' | 'reason' | 'by' | 'until'>;

/** Returns the hold in a row of `holds`; null if the hold has ended or there is no row. */
export function holdOf(row: Row | null | undefined): Hold | null {
  if (!row?.since) return null;
  const { since, reason, by, until } = row;
  return { reason, heldAt: since.toISOString(), heldBy: by ?? '', until: until?.toISOString() ?? null };
}

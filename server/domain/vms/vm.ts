import { z } from 'zod';
import type { vms } from '#db/schema/index.ts';
import { time } from '#server/domain/answers.ts';
import { vmId } from './input.ts';

/** A VM as the API returns it. */
export const vm = z.object({
  id: vmId,
  name: z.string(),
  tags: z.record(z.string(), z.string()),
  createdAt: time,
  /** Whether the VM's extensions are being uninstalled before it is deleted. */
  decommissioning: z.boolean(),
});
export type Vm = z.infer<typeof vm>;

type Row = Pick<typeof vms.$inferSelect, 'id' | 'name' | 'tags' | 'createdAt' | 'decommissioningAt'>;

export function vmOf(row: Row): Vm {
  return {
    id: row.id,
    name: row.name,
    tags: row.tags,
    createdAt: row.createdAt.toISOString(),
    decommissioning: row.decommissioningAt !== null,
  };
}

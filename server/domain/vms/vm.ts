import type { vms } from '#db/schema/index.ts';

/** A VM as callers see it. */
export interface Vm {
  id: string;
  name: string;
  tags: Record<string, string>;
  createdAt: string;
  /** Its extensions are being uninstalled; then it is deleted. */
  decommissioning: boolean;
}

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

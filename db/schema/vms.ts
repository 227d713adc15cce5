import { sql } from 'drizzle-orm';
import { index, jsonb, pgTable, text, timestamp, uniqueIndex, uuid } from 'drizzle-orm/pg-core';

/** A virtual machine. The row of a deleted VM is kept, so that the VM's history can be read under its id. */
export const vms = pgTable(
  'vms',
  {
    id: uuid().primaryKey(),
    name: text().notNull(),
    tags: jsonb().$type<Record<string, string>>().notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
    createdBy: text('created_by').notNull(),
    /** When decommissioning began; set while the VM's extensions are being uninstalled before the VM is deleted. */
    decommissioningAt: timestamp('decommissioning_at', { withTimezone: true }),
    deletedAt: timestamp('deleted_at', { withTimezone: true }),
    /** The instance id of the VM's role; null if the VM belongs to no model. */
    instanceId: text('instance_id'),
    /** VMs with the same value must not be out of service together; null if the VM is in no availability set. */
    disruptionGroup: text('disruption_group'),
  },
  (t) => [
    uniqueIndex('vms_name').on(t.name).where(sql`${t.deletedAt} is null`),
    index('vms_page').on(t.name, t.id).where(sql`${t.deletedAt} is null`),
    uniqueIndex('vms_instance').on(t.instanceId).where(sql`${t.deletedAt} is null`),
    index('vms_disruption_group').on(t.disruptionGroup).where(sql`${t.disruptionGroup} is not null`),
    index('vms_deleted').on(t.deletedAt).where(sql`${t.deletedAt} is not null`),
  ],
);

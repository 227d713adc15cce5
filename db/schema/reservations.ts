import { index, pgTable, smallint, text, timestamp, unique, uuid } from 'drizzle-orm/pg-core';
import { vms } from './vms.ts';

/** What takes VMs out of service: a rollout, or the upgrade of a service. */
export type HolderKind = 'rollout' | 'service';

/** VMs of disruption groups that are out of service, or are about to be, with who takes them out. */
export const groupReservations = pgTable(
  'group_reservations',
  {
    vmId: uuid('vm_id')
      .primaryKey()
      .references(() => vms.id),
    /** The group of the VM at the time of the reservation. */
    disruptionGroup: text('disruption_group').notNull(),
    /** A number below the holder’s limit, so that the index enforces limits; null for a holder without a limit. */
    place: smallint(),
    holderKind: text('holder_kind').$type<HolderKind>().notNull(),
    holderId: text('holder_id').notNull(),
    since: timestamp({ withTimezone: true }).notNull(),
  },
  (t) => [
    unique('group_reservations_place').on(t.disruptionGroup, t.place),
    index('group_reservations_holder').on(t.holderKind, t.holderId),
  ],
);

import { auditEntries } from '#db/schema/index.ts';

/** The columns that lists of entries need. `before` and `after` are omitted because they may be large. */
export const columns = {
  id: auditEntries.id,
  at: auditEntries.at,
  actorKind: auditEntries.actorKind,
  actorId: auditEntries.actorId,
  actorName: auditEntries.actorName,
  door: auditEntries.door,
  address: auditEntries.address,
  client: auditEntries.client,
  action: auditEntries.action,
  targetKind: auditEntries.targetKind,
  targetId: auditEntries.targetId,
  vmId: auditEntries.vmId,
  details: auditEntries.details,
};

export type StoredAct = Pick<typeof auditEntries.$inferSelect, keyof typeof columns>;

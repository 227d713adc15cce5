import { sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { agentPresence, extensionHealth, vmHealth, vms } from '#db/schema/index.ts';
import { rankOf, type VmHealth } from '#server/domain/verdicts/index.ts';

/** A VM to insert, without reports. */
export interface GivenRow {
  name: string;
  /** Null if the health has not been evaluated yet. The default is `healthy`. */
  health?: VmHealth | null;
  tags?: Record<string, string>;
  /** ISO 8601, with up to six decimal places. */
  since?: string;
  lastSeenAt?: Date;
  isDeleted?: boolean;
  extensions?: { name: string; handler?: string; version?: string; messageId?: string }[];
}

/** Returns the id of the VM at this position in the fleet. */
export const idOf = (place: number): string => `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;

/** Inserts VMs with the health that the worker would have stored. Ids increase with the position in the list. */
export async function insertFleet(db: Database, now: Date, rows: readonly GivenRow[]): Promise<void> {
  const given = rows.map((row, place) => ({ tags: {}, health: 'healthy' as const, ...row, id: idOf(place) }));
  await db.insert(vms).values(
    given.map(({ id, name, tags, isDeleted = false }) => ({
      ...{ id, name, tags, createdAt: now, createdBy: 'test' },
      deletedAt: isDeleted ? now : null,
    })),
  );
  for (const { id, name, tags, health, since = now.toISOString(), lastSeenAt, extensions = [] } of given) {
    if (health !== null) {
      const agent = health === 'unresponsive' ? 'unresponsive' : 'ready';
      const row = { vmId: id, name, tags, health, rank: rankOf(health), agent } as const;
      await db.insert(vmHealth).values({ ...row, since: sql`${since}::timestamptz` });
    }
    if (lastSeenAt) await db.insert(agentPresence).values({ vmId: id, lastSeenAt, nextExpectedAt: lastSeenAt });
    for (const { name: extension, handler = 'Acme.Lab.Probe', version = '1.0.0.0', messageId = null } of extensions) {
      const declared = { vmId: id, name: extension, handler, goalVersion: version };
      await db
        .insert(extensionHealth)
        .values({ ...declared, messageId, health: 'healthy', heartbeat: 'none', since: now });
    }
  }
}

import { sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { agentPresence, extensionHealth, healthTransitions, vmHealth, vms } from '#db/schema/index.ts';
import { rankOf, type VmHealth } from '#server/domain/verdicts/index.ts';

/** An extension to insert, healthy by default. */
export interface GivenExtension
  extends Partial<Pick<ExtensionRow, 'handler' | 'health' | 'cause' | 'command' | 'exitCode' | 'messageId'>>,
    Partial<Pick<ExtensionRow, 'since' | 'deadlineAt'>> {
  name: string;
  version?: string;
  /** The version that the agent reported. */
  running?: string;
}

type ExtensionRow = typeof extensionHealth.$inferSelect;

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
  extensions?: GivenExtension[];
  /** Changes of the VM's health. */
  changes?: { at: Date; from: VmHealth | null; to: VmHealth }[];
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
  for (const {
    id,
    name,
    tags,
    health,
    since = now.toISOString(),
    lastSeenAt,
    extensions = [],
    changes = [],
  } of given) {
    if (health !== null) {
      const agent = health === 'unresponsive' ? 'unresponsive' : 'ready';
      const row = { vmId: id, name, tags, health, rank: rankOf(health), agent } as const;
      await db.insert(vmHealth).values({ ...row, since: sql`${since}::timestamptz` });
    }
    if (lastSeenAt) await db.insert(agentPresence).values({ vmId: id, lastSeenAt, nextExpectedAt: lastSeenAt });
    for (const { version = '1.0.0.0', running = null, ...extension } of extensions) {
      await db.insert(extensionHealth).values({
        ...{ vmId: id, handler: 'Acme.Lab.Probe', health: 'healthy', heartbeat: 'none', since: now },
        ...{ goalVersion: version, version: running, ...extension },
      });
    }
    const base = { vmId: id, kind: 'health', extension: null } as const;
    for (const change of changes) await db.insert(healthTransitions).values({ ...base, ...change });
  }
}

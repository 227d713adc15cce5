import { eq, getTableColumns, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agentPresence } from '#db/schema/index.ts';
import { pollsWithin } from '#server/domain/verdicts/index.ts';

/** An agent's stored presence: when it was last seen, and what it reported about itself. */
export type Presence = typeof agentPresence.$inferSelect;

/** The call that delivers an agent's report. */
interface ReportingCall {
  vmId: string;
  receivedAt: Date;
  counter: number | null;
  /**
   * Seconds until the agent's next call: `polling` if it polled within `pollsWithin`, `reporting` if it only reports.
   */
  polling: number;
  reporting: number;
}

/** When an agent was last seen, and when its next call was due. */
interface LastSeen {
  lastSeenAt: Date;
  nextExpectedAt: Date;
}

/**
 * Records that an agent called with a report, and locks its presence. `before` is when the agent was last seen; null on
 * the first call.
 */
export async function recordReportingAgent(
  tx: Transaction,
  { vmId, receivedAt, counter, polling, reporting }: ReportingCall,
): Promise<{ presence: Presence; before: LastSeen | null }> {
  const expectedAt = (seconds: number) => new Date(receivedAt.getTime() + seconds * 1000);
  // `returning` sees the new row; a subquery still sees the old row.
  const old = sql<{ lastSeenAt: string; nextExpectedAt: string } | null>`(
    select json_build_object('lastSeenAt', b.last_seen_at, 'nextExpectedAt', b.next_expected_at)
      from agent_presence b where b.vm_id = ${vmId})`;
  // A report from before the enrollment belongs to the previous machine. The new machine counts its calls from 0.
  const calls = sql<number>`case when exists (
    select from agents a where a.vm_id = ${vmId} and a.enrolled_at > ${receivedAt.toISOString()}::timestamptz
    ) then 0 else ${counter ?? 0}::bigint end`;
  const [row] = await tx
    .insert(agentPresence)
    .values({ vmId, lastSeenAt: receivedAt, nextExpectedAt: expectedAt(polling), counter: calls })
    .onConflictDoUpdate({
      target: agentPresence.vmId,
      set: {
        lastSeenAt: sql`greatest(${agentPresence.lastSeenAt}, excluded.last_seen_at)`,
        nextExpectedAt: sql`greatest(${agentPresence.nextExpectedAt}, case
          when ${agentPresence.lastPolledAt} > excluded.last_seen_at - ${pollsWithin}::interval
          then excluded.next_expected_at else ${expectedAt(reporting).toISOString()}::timestamptz end)`,
        counter: sql`greatest(${agentPresence.counter}, excluded.counter)`,
      },
    })
    .returning({ ...getTableColumns(agentPresence), old });
  if (row === undefined) throw new Error('presence was neither inserted nor updated');
  const { old: known, ...presence } = row;
  const before = known && {
    lastSeenAt: new Date(known.lastSeenAt),
    nextExpectedAt: new Date(known.nextExpectedAt),
  };
  return { presence, before };
}

/** Stores what an agent reports about itself. */
export async function describePresence(
  tx: Transaction,
  vmId: string,
  values: Partial<Omit<Presence, 'vmId' | 'lastSeenAt' | 'nextExpectedAt' | 'lastPolledAt' | 'counter'>>,
): Promise<void> {
  await tx.update(agentPresence).set(values).where(eq(agentPresence.vmId, vmId));
}

/**
 * Returns the part of a statement that updates presence `p` for a batch of reports. That part returns `vm_id` of each
 * updated row. `from` is a query of evaluated rows `s`, whose `place` and `version` are the `ctid` and `xmin` of the
 * presence that was read. A presence is not updated if it has changed since then, or if `unless` returns rows.
 */
export const updatePresenceSql = ({ set, from, unless }: { set: string; from: string; unless: string }): string =>
  `update agent_presence p set
    ${set}
    from (${from}) s
   where p.ctid = s.place and p.xmin = s.version
     and not exists (${unless})
  returning p.vm_id`;

import { sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import { awaySql } from '#server/domain/verdicts/index.ts';

/** A call of an agent, timed by the portal's clock. */
export interface Sighting {
  vmId: string;
  at: Date;
  /** The time by which the agent should have called again. */
  nextExpectedAt: Date;
  counter: number | null;
  /** Whether `nextExpectedAt` replaces even a later stored time, for example because the agent closed a held poll. */
  hungUp?: boolean;
}

/** Merges a newer sighting of the same VM into the known sighting. */
export function mergeSighting(known: Sighting, newer: Sighting): void {
  known.at = newer.at;
  known.nextExpectedAt = newer.nextExpectedAt;
  known.counter = Math.max(known.counter ?? 0, newer.counter ?? 0);
  known.hungUp = known.hungUp === true || newer.hungUp === true;
}

const rowOf = ({ vmId, at, nextExpectedAt, counter, hungUp }: Sighting) => ({
  vm_id: vmId,
  at: at.getTime(),
  expected: nextExpectedAt.getTime(),
  counter: counter ?? 0,
  hung_up: hungUp ?? false,
});

/**
 * Writes sightings; a batch has at most one per VM. Notifies open pages of VMs that called for the first time or after
 * a silence, or whose next call is now expected sooner.
 */
export async function writeSightings(db: Database, batch: readonly Sighting[]): Promise<void> {
  await db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ vm_id: string }>(sql`
      with seen as materialized (
        select s.vm_id, to_timestamp(s.at / 1000) as at, to_timestamp(s.expected / 1000) as next_expected_at, s.counter,
          s.hung_up
        from json_to_recordset(${JSON.stringify(batch.map(rowOf))}::json)
          as s(vm_id uuid, at float8, expected float8, counter bigint, hung_up boolean)
        -- A sighting from before the enrollment belongs to the previous machine.
        join agents a on a.vm_id = s.vm_id and a.enrolled_at <= to_timestamp(s.at / 1000)
      ), before as materialized (
        select p.vm_id, p.last_seen_at, p.next_expected_at, p.last_polled_at from agent_presence p join seen using (vm_id)
      ), written as (
        insert into agent_presence (vm_id, last_seen_at, next_expected_at, last_polled_at, counter)
        select vm_id, at, next_expected_at, at, counter from seen order by vm_id
        on conflict (vm_id) do update set
          last_seen_at = greatest(agent_presence.last_seen_at, excluded.last_seen_at),
          next_expected_at = case
            -- If it has polled at another gateway since, the announced call still counts.
            when (select hung_up from seen where seen.vm_id = excluded.vm_id)
              and excluded.last_polled_at >= coalesce(agent_presence.last_polled_at, '-infinity')
            then excluded.next_expected_at
            else greatest(agent_presence.next_expected_at, excluded.next_expected_at) end,
          last_polled_at = greatest(agent_presence.last_polled_at, excluded.last_polled_at),
          counter = greatest(agent_presence.counter, excluded.counter)
      )
      select seen.vm_id from seen left join before using (vm_id)
       where before.vm_id is null
          or ${sql.raw(awaySql('before', 'seen.at'))}
          or (seen.hung_up and seen.next_expected_at < before.next_expected_at
            and seen.at >= coalesce(before.last_polled_at, '-infinity'))`);
    await recordChanges(
      tx,
      'vm',
      rows.map((row) => row.vm_id),
    );
  });
}

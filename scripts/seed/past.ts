import type pg from 'pg';
import type { SeedHandler } from './catalogue.ts';

/** SQL for when the current health of seeded VMs and extensions began. `$1` is the current time. */
export const vmSince = `least($1::timestamptz, case
    when v.scenario = 'silent' then p.last_seen_at + interval '10 minutes'
    else $1::timestamptz - make_interval(secs => v.ago) end)`;
export const extensionSince = `least($1::timestamptz, case
    when v.scenario = 'silent' then p.last_seen_at + interval '10 minutes'
    when e.affected or (v.scenario = 'recovered' and e.name = 'metrics') then $1::timestamptz - make_interval(secs => v.ago)
    else e.changed_at + interval '40 seconds' end)`;

/**
 * Adds history to the derived health, in the caller's transaction: when each state began, the transitions of the last
 * 30 days, and how each version spread over the last 60 days.
 */
export async function writePast(
  client: pg.ClientBase,
  { handlers, vms, now }: { handlers: readonly SeedHandler[]; vms: number; now: Date },
): Promise<void> {
  const at = now.toISOString();
  // Removes the transitions of the first evaluation, which reports all health as new.
  await client.query('delete from health_transitions t using seed_vms v where t.vm_id = v.id');
  await client.query(
    `update extension_health h set since = ${extensionSince}
       from seed_extensions e join seed_vms v on v.id = e.vm_id left join agent_presence p on p.vm_id = e.vm_id
      where h.vm_id = e.vm_id and h.name = e.name and h.since <> ${extensionSince}`,
    [at],
  );
  await client.query(
    `update vm_health h set since = ${vmSince}
       from seed_vms v left join agent_presence p on p.vm_id = v.id
      where h.vm_id = v.id and h.since <> ${vmSince}`,
    [at],
  );
  await writeTransitions(client, at);
  await writeCounts(client, handlers, vms, at);
}

/** Writes transitions by which unhealthy VMs were healthy before, and recovered VMs had failed. */
async function writeTransitions(client: pg.ClientBase, at: string): Promise<void> {
  await client.query(
    `insert into health_transitions (at, vm_id, extension, kind, "from", "to", cause, waits_for)
     select at, vm_id, extension, 'health', "from", "to", cause, waits_for from (
       select h.since as at, h.vm_id, null as extension, case when v.scenario = 'recovered' then 'failed' else 'healthy' end as "from",
         h.health as "to", x.cause, null as waits_for
         from vm_health h join seed_vms v on v.id = h.vm_id
         left join lateral (
           select case when h.health = 'unresponsive' then 'silent' else e.cause end as cause from extension_health e
            where e.vm_id = h.vm_id and e.health = h.health order by e.name limit 1
         ) x on true
        where v.scenario not in ('well', 'never', 'disabled')
       union all
       select e.since, e.vm_id, e.name, case when v.scenario = 'recovered' then 'failed' else 'healthy' end,
         e.health, e.cause, e.waits_for
         from extension_health e join seed_vms v on v.id = e.vm_id join seed_extensions s on s.vm_id = e.vm_id and s.name = e.name
        where e.health not in ('healthy', 'disabled', 'unknown') or (v.scenario = 'recovered' and e.name = 'metrics')
       union all
       select h.since - make_interval(secs => 300 + v.q * 3000), h.vm_id, null, 'healthy', 'failed', 'exit', null
         from vm_health h join seed_vms v on v.id = h.vm_id where v.scenario = 'recovered'
     ) t where at > $1::timestamptz - interval '30 days' order by at`,
    [at],
  );
}

/** Writes each version's rollout: the version replaces the previous version while the fleet grows. */
async function writeCounts(
  client: pg.ClientBase,
  handlers: readonly SeedHandler[],
  vms: number,
  at: string,
): Promise<void> {
  const curves = handlers.flatMap(({ handler, versions }) =>
    versions.map(({ version, share }, index) => ({
      handler,
      version,
      share,
      older: versions.slice(0, index).reduce((sum, { share: other }) => sum + other, 0),
      /**
       * How many days ago half of the rollout was complete. Null for the oldest version, which was there from the
       * start.
       */
      turn: index === 0 ? null : 42 * (1 - (index - 1) / Math.max(1, versions.length - 1)) - 1,
      next: index === versions.length - 1 ? null : 42 * (1 - index / Math.max(1, versions.length - 1)) - 1,
    })),
  );
  await client.query(
    `insert into version_counts (handler, version, hour, vms, failed)
     select handler, version, hour, n, least(n, round(n * (0.002 + 0.03 * exp(-abs(days - coalesce(turn, 90)) / 2)))) from (
       select c.handler, c.version, h.hour, d.days, c.turn,
         round($2 * (0.72 + 0.28 * (1 - d.days / 60)) * (
           -- VMs with this version: those that have reached it minus those that have moved to the next one.
           coalesce(1 / (1 + exp((d.days - c.turn) / 2.2)), 1) * (1 - c.older)
           - coalesce(1 / (1 + exp((d.days - c.next) / 2.2)) * (1 - c.older - c.share), 0)
         ))::int as n
       from json_to_recordset($3::json) as c(handler text, version text, share float8, older float8, turn float8, next float8)
       cross join generate_series(date_trunc('hour', $1::timestamptz) - interval '60 days', $1::timestamptz, '1 hour') as h(hour)
       cross join lateral (select extract(epoch from $1::timestamptz - h.hour) / 86400.0 as days) d
       where h.hour > $1::timestamptz - interval '14 days' or extract(hour from h.hour at time zone 'UTC') = 23
     ) x where n > 0
     on conflict (handler, version, hour) do update set
       vms = version_counts.vms + excluded.vms, failed = version_counts.failed + excluded.failed`,
    [at, vms, JSON.stringify(curves)],
  );
}

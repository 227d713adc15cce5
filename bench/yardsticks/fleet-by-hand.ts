import type pg from 'pg';

/** Reads the data of the fleet's pages with hand-written SQL: prepared statements on the tables. */
export interface FleetByHand {
  overview(): Promise<unknown>;
  list(where: ListQuestion): Promise<unknown>;
}

export interface ListQuestion {
  name: string;
  /** Conditions on `v` (vms) and `h` (vm_health), with literal values, so that PostgreSQL plans for them. */
  where: string;
  order: string;
}

const overview = {
  counts: 'select rank, count(*)::int as vms from vm_health group by rank',
  hour: `select "from", "to", count(*)::int as changes from health_transitions
    where extension is null and kind = 'health' and at >= now() - interval '1 hour' group by 1, 2`,
  extensions: 'select count(*)::int as extensions from extension_health',
  // Like the overview, counts only a sample of about 20,000 VMs in a large fleet.
  tags: `select t.key, t.value, count(*)::int as vms
    from (select tags from vm_health tablesample bernoulli (least(100, 2000000 / greatest(1,
      (select reltuples from pg_class where oid = 'vm_health'::regclass))))) s, jsonb_each_text(s.tags) t group by 1, 2`,
};

/**
 * `listFleet` evaluates health from these columns, because `extension_health` may be seconds old. The columns contain no
 * documents except the handler state, without its output.
 */
const columns = `v.id, v.name, v.tags, v.created_at, v.decommissioning_at, h.health, h.agent, h.since, a.version, a.os,
  g.incarnation, p.last_seen_at, p.next_expected_at, p.clock_skew_seconds, p.heartbeat_seconds, p.status_seconds,
  (select json_agg(x) from (
     select e.name, e.handler, e.state, e.sequence_number, e.timeouts, e.changed_at, e.delivered_at,
       u.heartbeat_status, u.heartbeat_read_at, u.heartbeat_age_seconds, u.status_word, u.status_sequence,
       u.status_read_at, u.status_age_seconds, u.concluded_at, l.handler_state::jsonb - 'output' as handler_state,
       l.handler_at, r.manifest #> '{handlerManifest,reportHeartbeat}' as beats
     from extensions e left join extension_pulse u on u.vm_id = e.vm_id and u.name = e.name
     left join extension_latest l on l.vm_id = e.vm_id and l.name = e.name
     left join handler_versions r on r.handler = e.handler
       and r.version = coalesce(l.handler_state ->> 'version', e.version)
     where e.vm_id = v.id order by e.name) x) as extensions`;
const tables = `vms v join vm_health h on h.vm_id = v.id left join agents a on a.vm_id = v.id
  left join goal_state_heads g on g.vm_id = v.id left join agent_presence p on p.vm_id = v.id`;

/** The rows of a page, plus one row that shows whether there are more. */
const rows = 51;

export function fleetByHand(pool: pg.Pool): FleetByHand {
  return {
    overview: () =>
      Promise.all(Object.entries(overview).map(([name, text]) => pool.query({ name: `overview-${name}`, text }))),
    list: ({ name, where, order }) =>
      pool.query({
        name,
        // Selects the page first, so that only its rows are joined.
        text: `select ${columns} from (
            select v.id as page_id from vms v join vm_health h on h.vm_id = v.id
            where v.deleted_at is null and ${where} order by ${order} limit ${rows}
          ) page join ${tables} on v.id = page.page_id order by ${order}`,
      }),
  };
}

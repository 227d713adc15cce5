import { updatePresenceSql } from '#server/domain/enrollment/index.ts';
import { updatePulseSql } from '#server/domain/reported-state/index.ts';
import { recordCallSql, reports, seen } from './batch-parts.ts';
import { heartbeat, sameVerdictSql } from './entries/heartbeat.ts';
import { declaredColumns } from './entries/kind.ts';

/**
 * Stores the reports of a batch that contain nothing new: only unchanged heartbeats, from agents that have not missed a
 * call. Most reports of a fleet are of this kind. They need no notification, evaluation or history, so the query plan
 * is small. $1 contains the reports as in `batchStatement`, and $2 the heartbeats. If a VM's report contains anything
 * new, nothing is stored for that VM.
 */
export const heartbeatsStatement = {
  name: 'reports-heartbeats',
  text: `
with report as materialized (
  ${reports}
), entry as materialized (
  select * from json_to_recordset($2) as e (
    vm_id uuid, name text, ${declaredColumns(heartbeat)})
), seen as materialized (
  select ${seen}
    from report r join agent_presence p on p.vm_id = r.vm_id
), pair as materialized (
  select vm_id, pulse_place, heartbeat_read_at, heartbeat_age,
    coalesce(was_heartbeat_hash = heartbeat_hash
      and ${sameVerdictSql}, false) as as_before
    from (
      select e.*, s.at, s.heartbeat_period, u.ctid as pulse_place,
        ${heartbeat.sql.was.join(', ')}
        from seen s join entry e on e.vm_id = s.vm_id
        left join extension_pulse u on u.vm_id = e.vm_id and u.name = e.name offset 0) found
), taken as (
  ${updatePresenceSql({
    set: `${recordCallSql},
    clock_skew_seconds = coalesce(s.skew, p.clock_skew_seconds),
    run = case when s.number is null then p.run else s.run end,
    report_number = coalesce(s.number, p.report_number)`,
    from: 'select * from seen where not (repeated or was_away or is_news) order by vm_id',
    unless: 'select from pair where pair.vm_id = s.vm_id and not pair.as_before',
  })}
), pulse as (
  ${updatePulseSql({
    set: 'heartbeat_read_at = pair.heartbeat_read_at, heartbeat_age_seconds = pair.heartbeat_age',
    from: 'pair join taken on taken.vm_id = pair.vm_id',
    where: 'u.ctid = pair.pulse_place',
  })}
)
select coalesce(json_agg(vm_id), '[]') as taken from taken`,
} as const;

import { defaultPeriods } from '#protocol/index.ts';
import { awaySql, pollsWithin } from '#server/domain/verdicts/index.ts';

/** Query that reads the reports of a batch from the JSON that ingest-batch.ts writes. */
export const reports = `select * from json_to_recordset($1) as r (
    vm_id uuid, at timestamptz, counter bigint, run text, number bigint, heartbeat_seconds int, status_seconds int,
    skew int, applied_etag text, polling int, reporting int)`;

/** Columns that compare a report `r` with the presence `p` of its VM. */
export const seen = `r.*, p.ctid as place, p.xmin as version,
    coalesce(r.number <= p.report_number and r.run is not distinct from p.run, false) as repeated,
    coalesce(r.heartbeat_seconds, p.heartbeat_seconds, ${defaultPeriods.heartbeatSeconds}) as heartbeat_period,
    coalesce(r.status_seconds, p.status_seconds, ${defaultPeriods.statusSeconds}) as status_period,
    ${awaySql('p', 'r.at')} as was_away,
    coalesce(r.applied_etag is distinct from p.applied_etag and r.applied_etag is not null, false)
      or coalesce(r.heartbeat_seconds is distinct from p.heartbeat_seconds and r.heartbeat_seconds is not null, false)
      or coalesce(r.status_seconds is distinct from p.status_seconds and r.status_seconds is not null, false) as is_news`;

/**
 * Every report updates the presence `p` of its VM with these assignments. A report from before the enrollment belongs
 * to the previous machine, so its call counter is ignored. The enrollment is read only if the VM was seen after the
 * report arrived.
 */
export const recordCallSql = `last_seen_at = greatest(p.last_seen_at, s.at),
    next_expected_at = greatest(p.next_expected_at, s.at + make_interval(secs =>
      case when p.last_polled_at > s.at - interval '${pollsWithin}' then s.polling else s.reporting end)),
    counter = case
      when s.at < p.last_seen_at
        and exists (select from agents a where a.vm_id = p.vm_id and a.enrolled_at > s.at) then p.counter
      else greatest(p.counter, s.counter) end`;

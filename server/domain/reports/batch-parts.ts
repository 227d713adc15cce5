import { defaultPeriods } from '#protocol/index.ts';
import {
  freshHeartbeatSeconds,
  graceSeconds,
  pollsWithin,
  staleFileSeconds,
  unresponsiveSeconds,
} from '#server/domain/verdicts/index.ts';

/** Names of the columns of a reading: a file's age when it was read, and when that was. */
interface Reading {
  word: string;
  readAt: string;
  age: string;
}

const elapsed = ({ readAt }: Reading): string => `greatest(0, date_part('epoch', at - ${readAt}))`;
const secondsAfter = (later: string, earlier: string): string => `date_part('epoch', ${later} - ${earlier})`;

/** `heartbeatVerdict` of verdicts/rules.ts for a handler that opted in, at the moment `at`; a test holds them together. */
export const verdict = (of: Reading): string => `case
    when ${of.readAt} is null then 'none'
    when ${elapsed(of)} > heartbeat_period + ${graceSeconds} then
      case when ${of.age} + ${elapsed(of)} > ${unresponsiveSeconds} then 'unresponsive' else 'unknown' end
    when ${of.age} > ${unresponsiveSeconds} then 'unresponsive'
    when ${of.word} = 'notready' then 'notready'
    when ${of.age} <= ${freshHeartbeatSeconds} then 'ready'
    else 'unknown' end`;

/** Whether `staleFor` of verdicts/rules.ts gives a number, at the moment `at`. */
export const stale = (of: Reading): string => `coalesce(${of.word} not in ('success', 'error') and (
    ${elapsed(of)} > status_period + ${graceSeconds}
    or ${of.age} > ${staleFileSeconds}), false)`;

/** `wentBack` of merge.ts. */
export const wentBack = (was: Reading, is: Reading): string => `coalesce(
    ${secondsAfter(was.readAt, is.readAt)} > 1
    or ${secondsAfter(was.readAt, is.readAt)} - ${was.age} + ${is.age} > 1, false)`;

export const was = {
  heartbeat: { word: 'was_heartbeat_status', readAt: 'was_heartbeat_read_at', age: 'was_heartbeat_age' },
  status: { word: 'was_status_word', readAt: 'was_status_read_at', age: 'was_status_age' },
};
export const is = {
  heartbeat: { word: 'heartbeat_status', readAt: 'heartbeat_read_at', age: 'heartbeat_age' },
  status: { word: 'status_word', readAt: 'status_read_at', age: 'status_age' },
};

/** The reports of a batch, from the JSON of ingest-batch.ts. */
export const reports = `select * from json_to_recordset($1) as r (
    vm_id uuid, at timestamptz, counter bigint, run text, number bigint, heartbeat_seconds int, status_seconds int,
    skew int, applied_etag text, polling int, reporting int)`;

/** What is asked of a report `r` and the presence `p` of its VM. */
export const seen = `r.*, p.ctid as place, p.xmin as version,
    coalesce(r.number <= p.report_number and r.run is not distinct from p.run, false) as repeated,
    coalesce(r.heartbeat_seconds, p.heartbeat_seconds, ${defaultPeriods.heartbeatSeconds}) as heartbeat_period,
    coalesce(r.status_seconds, p.status_seconds, ${defaultPeriods.statusSeconds}) as status_period,
    coalesce(p.next_expected_at + interval '${graceSeconds} seconds' < r.at
      or p.last_seen_at + interval '${unresponsiveSeconds} seconds' < r.at, false) as was_away,
    coalesce(r.applied_etag is distinct from p.applied_etag and r.applied_etag is not null, false)
      or coalesce(r.heartbeat_seconds is distinct from p.heartbeat_seconds and r.heartbeat_seconds is not null, false)
      or coalesce(r.status_seconds is distinct from p.status_seconds and r.status_seconds is not null, false) as is_news`;

/**
 * What any report of a VM does to its presence `p`. One from before the enrolment is of the machine that was there
 * before: the next one counts its calls anew. Looked up only where somebody was seen since.
 */
export const sighted = `last_seen_at = greatest(p.last_seen_at, s.at),
    next_expected_at = greatest(p.next_expected_at, s.at + make_interval(secs =>
      case when p.last_polled_at > s.at - interval '${pollsWithin}' then s.polling else s.reporting end)),
    counter = case
      when s.at < p.last_seen_at
        and exists (select from agents a where a.vm_id = p.vm_id and a.enrolled_at > s.at) then p.counter
      else greatest(p.counter, s.counter) end`;

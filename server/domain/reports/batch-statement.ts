import { changesChannel, insertVmChangesSql, markHealthDueSql } from '#server/domain/changes/index.ts';
import { updatePresenceSql } from '#server/domain/enrollment/index.ts';
import { updateLatestSql, updatePulseSql } from '#server/domain/reported-state/index.ts';
import { is, reports, seen, sighted, stale, verdict, was, wentBack } from './batch-parts.ts';

/** The documents of an entry, in the order of their parameters: what is shown, and what was sent. */
export const documentColumns = [
  'handler',
  'handler_raw',
  'heartbeat',
  'heartbeat_raw',
  'status',
  'status_raw',
] as const;

/** Stands between two documents: a character that JSON holds only in an escape. */
export const separator = '\u001e';

/**
 * Takes in a batch of reports, at most one of each VM, in one statement: `merge.ts` for all of them at once. $1 and $2
 * are JSON: the reports and their entries by extension, as ingest-batch.ts makes them; $3 whether to notify. The entries'
 * documents follow, all of a kind in one text: as parts of the JSON they would be read twice.
 *
 * Nothing is locked ahead: a VM's presence row is written only if it still is the version that was judged, and every
 * writer of a VM's reports writes that row. Both rows are written where they were read, by their place in the table
 * (`ctid`), without a second look into the index: while the presence row is the same, so is the place of its pulses. A VM whose row moved on, that has none, or whose report needs the careful way
 * (an unknown extension, a sequence number above the goal's, a late document that may be kept already) is not among
 * `taken`, and nothing of it was stored.
 */
export const batchStatement = {
  name: 'reports-batch',
  text: `
with report as materialized (
  ${reports}
), entry as materialized (
  select * from rows from (
    json_to_recordset($2) as (
      vm_id uuid, name text,
      handler_hash uuid, handler_sequence bigint,
      heartbeat_hash uuid, heartbeat_status text, heartbeat_read_at timestamptz, heartbeat_age float8,
      status_hash uuid, status_sequence bigint, status_word text, status_read_at timestamptz, status_age float8),
    ${documentColumns.map((_, index) => `unnest(string_to_array($${index + 4}, chr(${separator.charCodeAt(0)})))`).join(',\n    ')}
  ) as e (vm_id, name, handler_hash, handler_sequence, heartbeat_hash, heartbeat_status, heartbeat_read_at, heartbeat_age,
    status_hash, status_sequence, status_word, status_read_at, status_age, ${documentColumns.join(', ')})
), seen as materialized (
  select ${seen}
    from report r join agent_presence p on p.vm_id = r.vm_id
), pair as materialized (
  select *,
    coalesce(handler_sequence < was_handler_sequence, false) as handler_late,
    coalesce(status_sequence < was_status_sequence
      or status_sequence = was_status_sequence and status_sequence < goal_sequence, false) as status_late
    from (
      select e.*, s.at, s.heartbeat_period, s.status_period, u.vm_id is not null as is_known, u.ctid as pulse_place,
        case when e.handler_sequence is not null or e.status_sequence is not null then
          (select x.sequence_number from extensions x where x.vm_id = e.vm_id and x.name = e.name) end as goal_sequence,
        u.handler_hash as was_handler_hash, u.handler_sequence as was_handler_sequence,
        u.heartbeat_hash as was_heartbeat_hash, u.heartbeat_status as was_heartbeat_status,
        u.heartbeat_read_at as was_heartbeat_read_at, u.heartbeat_age_seconds as was_heartbeat_age,
        u.status_hash as was_status_hash, u.status_sequence as was_status_sequence, u.status_word as was_status_word,
        u.status_read_at as was_status_read_at, u.status_age_seconds as was_status_age
        from seen s join entry e on e.vm_id = s.vm_id
        left join extension_pulse u on u.vm_id = e.vm_id and u.name = e.name
       where not s.repeated offset 0) found
), taken as (
  ${updatePresenceSql({
    set: `${sighted},
    heartbeat_seconds = case when s.repeated then p.heartbeat_seconds else coalesce(s.heartbeat_seconds, p.heartbeat_seconds) end,
    status_seconds = case when s.repeated then p.status_seconds else coalesce(s.status_seconds, p.status_seconds) end,
    clock_skew_seconds = case when s.repeated then p.clock_skew_seconds else coalesce(s.skew, p.clock_skew_seconds) end,
    applied_etag = case when s.repeated then p.applied_etag else coalesce(s.applied_etag, p.applied_etag) end,
    run = case when s.repeated or s.number is null then p.run else s.run end,
    report_number = case when s.repeated then p.report_number else coalesce(s.number, p.report_number) end`,
    from: 'select * from seen order by vm_id',
    unless: `
       select from pair
        where pair.vm_id = s.vm_id
          and (not pair.is_known
            or (pair.handler_sequence is not null or pair.status_sequence is not null) and pair.goal_sequence is null
            or pair.handler_sequence > pair.goal_sequence or pair.status_sequence > pair.goal_sequence
            or pair.handler_late
            or pair.status_late and (pair.status_sequence, pair.status_hash)
              is distinct from (pair.was_status_sequence, pair.was_status_hash))`,
  })}
), judged as materialized (
  select pair.*,
    handler_hash is not null and was_handler_hash is distinct from handler_hash as handler_news,
    heartbeat_hash is not null and was_heartbeat_hash is distinct from heartbeat_hash as heartbeat_news,
    status_hash is not null and not status_late as status_current,
    status_hash is not null
      and (was_status_sequence is distinct from status_sequence or was_status_hash is distinct from status_hash) as status_news
    from pair join taken on taken.vm_id = pair.vm_id
), pulse as (
  ${updatePulseSql({
    set: `handler_sequence = case when j.handler_news then j.handler_sequence else u.handler_sequence end,
    handler_hash = case when j.handler_news then j.handler_hash else u.handler_hash end,
    heartbeat_hash = coalesce(j.heartbeat_hash, u.heartbeat_hash),
    heartbeat_status = coalesce(j.heartbeat_status, u.heartbeat_status),
    heartbeat_read_at = coalesce(j.heartbeat_read_at, u.heartbeat_read_at),
    heartbeat_age_seconds = coalesce(j.heartbeat_age, u.heartbeat_age_seconds),
    status_hash = case when j.status_current then j.status_hash else u.status_hash end,
    status_sequence = case when j.status_current then j.status_sequence else u.status_sequence end,
    status_word = case when j.status_current then j.status_word else u.status_word end,
    status_read_at = case when j.status_current then j.status_read_at else u.status_read_at end,
    status_age_seconds = case when j.status_current then j.status_age else u.status_age_seconds end,
    concluded_at = case when not j.status_current then u.concluded_at
      when u.status_sequence = j.status_sequence and u.concluded_at is not null then u.concluded_at
      when j.status_word in ('success', 'error') then j.at end,
    concluded_with = case when not j.status_current then u.concluded_with
      when u.status_sequence = j.status_sequence and u.concluded_with is not null then u.concluded_with
      when j.status_word in ('success', 'error') then j.status_word end`,
    from: 'judged j',
    where: 'u.ctid = j.pulse_place and (j.handler_news or j.heartbeat_hash is not null or j.status_current)',
  })}
), shown as (
  ${updateLatestSql({
    set: `handler_state = case when j.handler_news then j.handler::json else l.handler_state end,
    handler_at = case when j.handler_news then j.at else l.handler_at end,
    heartbeat = case when j.heartbeat_news then j.heartbeat::json else l.heartbeat end,
    status = case when j.status_current and j.status_news then j.status::json else l.status end`,
    from: 'judged j',
    where: `l.vm_id = j.vm_id and l.name = j.name
     and (j.handler_news or j.heartbeat_news or j.status_current and j.status_news)`,
  })}
), kept as (
  insert into report_history (vm_id, at, kind, extension, sequence_number, current, document)
  select * from (
    select vm_id, at, 'handler', name, handler_sequence, true, handler_raw::json from judged where handler_news
    union all
    select vm_id, at, 'heartbeat', name, null, true, heartbeat_raw::json from judged where heartbeat_news
    union all
    select vm_id, at, 'status', name, status_sequence, true, status_raw::json from judged where status_current and status_news) h
), visible as materialized (
  select s.vm_id from seen s join taken on taken.vm_id = s.vm_id where s.was_away or s.is_news and not s.repeated
  union
  select vm_id from judged
   where handler_news or heartbeat_news or status_current and status_news
      or heartbeat_hash is not null
        and (${verdict(was.heartbeat)} <> ${verdict(is.heartbeat)} or ${wentBack(was.heartbeat, is.heartbeat)})
      or status_current
        and (${stale(was.status)} <> ${stale(is.status)} or ${wentBack(was.status, is.status)})
), marked as (
  ${markHealthDueSql('select vm_id from visible order by vm_id')}
), told as (
  ${insertVmChangesSql('select vm_id from visible order by vm_id')}
)
select coalesce((select json_agg(vm_id) from taken), '[]') as taken,
  coalesce((select json_agg(vm_id) from seen where repeated), '[]') as repeated,
  coalesce((select json_agg(key) from told), '[]') as visible,
  (select count(pg_notify('${changesChannel}', json_build_object('topic', 'vm', 'key', key)::text)) from told where $3)`,
} as const;

import { changesChannel, insertVmChangesSql, markHealthDueSql } from '#server/domain/changes/index.ts';
import { updatePresenceSql } from '#server/domain/enrollment/index.ts';
import { updateLatestSql, updatePulseSql } from '#server/domain/reported-state/index.ts';
import { recordCallSql, reports, seen } from './batch-parts.ts';
import { entryKinds } from './entries/index.ts';
import { type BatchSql, declaredColumns } from './entries/kind.ts';

/**
 * Columns of an entry's documents, in the order of their parameters: the parsed document, then the document as sent.
 */
export const documentColumns = entryKinds.flatMap(({ kind }) => [kind, `${kind}_raw`]);

const kinds = entryKinds.map(({ sql }) => sql);
const sequences = kinds.flatMap(({ sequence }) => sequence ?? []);

/** Joins the parts that `part` selects from the SQL of every kind. */
const list = (part: (sql: BatchSql) => readonly string[], separator = ',\n    '): string =>
  kinds.flatMap(part).join(separator);
const anyOf = (conditions: readonly string[]): string => conditions.join(' or ');

const entryColumns = ['vm_id', 'name', ...kinds.flatMap(({ columns }) => Object.keys(columns)), ...documentColumns];
const hasSequence = (row: string): string => anyOf(sequences.map((sequence) => `${row}.${sequence} is not null`));
/**
 * Conditions under which a report needs the careful path: an unknown extension, a sequence number that is too high, or
 * a late document.
 */
const careful = anyOf([
  'not pair.is_known',
  `(${hasSequence('pair')}) and pair.goal_sequence is null`,
  ...sequences.map((sequence) => `pair.${sequence} > pair.goal_sequence`),
  ...kinds.flatMap(({ careful: condition }) => condition ?? []),
]);

/** Selects the documents of a kind that belong in the history. */
const historyOf = ({ kind, sql }: (typeof entryKinds)[number]): string =>
  `select vm_id, at, '${kind}', name, ${sql.sequence ?? 'null'}, true, ${kind}_raw::json from judged where ${sql.history}`;

/** Separates two documents. JSON contains this character only in escaped form. */
export const separator = '\u001e';

/**
 * Stores a batch of reports, at most one per VM, in one statement, which implements the merge rules of `entries/` in
 * SQL. $1 and $2 are JSON: the reports, and their entries by extension, as ingest-batch.ts writes them. $3 is whether
 * to notify. The entries' documents follow as one text per column, because as parts of the JSON they would be parsed
 * twice. Nothing is locked beforehand. A VM's presence row is written only if it has not changed since it was read, and
 * everything that writes a VM's reports also writes that row. Both the presence and the pulses are written by their
 * location in the table (`ctid`), without another index lookup: while the presence row is unchanged, so is the location
 * of its VM's pulses. Nothing is stored for a VM that is not in `taken`: its row changed or does not exist, or its
 * report needs the careful path.
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
      ${entryKinds.map(declaredColumns).join(',\n      ')}),
    ${documentColumns.map((_, index) => `unnest(string_to_array($${index + 4}, chr(${separator.charCodeAt(0)})))`).join(',\n    ')}
  ) as e (${entryColumns.join(', ')})
), seen as materialized (
  select ${seen}
    from report r join agent_presence p on p.vm_id = r.vm_id
), pair as materialized (
  select *,
    ${list(({ pair }) => pair)}
    from (
      select e.*, s.at, s.heartbeat_period, s.status_period, u.vm_id is not null as is_known, u.ctid as pulse_place,
        case when ${hasSequence('e')} then
          (select x.sequence_number from extensions x where x.vm_id = e.vm_id and x.name = e.name) end as goal_sequence,
        ${list(({ was }) => was, ', ')}
        from seen s join entry e on e.vm_id = s.vm_id
        left join extension_pulse u on u.vm_id = e.vm_id and u.name = e.name
       where not s.repeated offset 0) found
), taken as (
  ${updatePresenceSql({
    set: `${recordCallSql},
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
          and (${careful})`,
  })}
), judged as materialized (
  select pair.*,
    ${list(({ judged }) => judged)}
    from pair join taken on taken.vm_id = pair.vm_id
), pulse as (
  ${updatePulseSql({
    set: list(({ pulse }) => pulse.set),
    from: 'judged j',
    where: `u.ctid = j.pulse_place and (${anyOf(kinds.map(({ pulse }) => pulse.where))})`,
  })}
), shown as (
  ${updateLatestSql({
    set: list(({ latest }) => latest.set),
    from: 'judged j',
    where: `l.vm_id = j.vm_id and l.name = j.name
     and (${anyOf(kinds.map(({ latest }) => latest.where))})`,
  })}
), kept as (
  insert into report_history (vm_id, at, kind, extension, sequence_number, current, document)
  select * from (
    ${entryKinds.map(historyOf).join('\n    union all\n    ')}) h
), visible as materialized (
  select s.vm_id from seen s join taken on taken.vm_id = s.vm_id where s.was_away or s.is_news and not s.repeated
  union
  select vm_id from judged
   where ${anyOf([...kinds.map(({ history }) => history), ...kinds.flatMap(({ visible }) => visible)])}
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

import { getTableColumns } from 'drizzle-orm';
import { executions } from '#db/schema/index.ts';
import { changesChannel, insertChangesSql, markHealthDueSql } from '#server/domain/changes/index.ts';
import { deleteSecretsSql, goalStatesChannel } from '#server/domain/goal-states/index.ts';
import { freeLanesSql, openGoalsSql, takeLanesSql } from './lane-times.ts';

/** The columns that agents' calls change. */
export const changedColumns = [
  ...(['state', 'dueAt', 'handedOut', 'deliveredAt', 'receivedAt', 'begunAt', 'concludedAt', 'run'] as const),
  ...(['reboots', 'errorCode', 'result', 'exception', 'resultLate', 'repeats', 'secretId'] as const),
];

const columns = changedColumns.map((key) => getTableColumns(executions)[key]);

/** The columns of `execution_calls` except `vm_id`, `execution_id` and `run`, with their types. */
const callColumns = {
  ...{ n: 'int', script: 'text', function: 'text', state: 'text', row: 'int', until_row: 'int', at_ms: 'bigint' },
  ...{ took_ms: 'bigint', exit_code: 'int', from_journal: 'boolean' },
};
const callNames = Object.keys(callColumns).map((name) => `"${name}"`);
const calls = Object.entries(callColumns).map(([name, type]) => `"${name}" ${type}`);
const updates = ['run', ...callNames.filter((name) => name !== '"n"')].map((name) => `${name} = excluded.${name}`);

/**
 * Writes changed executions, at most one per VM, with everything that follows from the changes. $1 contains a JSON
 * object for each change; $2 says whether to notify. An execution that another transaction has changed since it was
 * read (its `xmin` is no longer `seen`) is left unchanged, and so is an execution that would be delivered while its VM
 * is on hold. Calls of a later run of the Body replace the same calls of an earlier run. A call that has ended does not
 * change again within a run, except that its last row can be added.
 */
export const changeStatement = {
  name: 'executions-change',
  text: `
with given as materialized (
  select r.* from unnest($1::json[]) as j cross join lateral json_to_record(j) as r (
    n int, vm_id uuid, id uuid, seen text, is_hand_out boolean, lane_taken_at timestamptz, lane_freed_at timestamptz,
    dropped_secret uuid, tells_gateways boolean, calls json,
    ${columns.map((column) => `${column.name} ${column.getSQLType()}`).join(', ')})
), released as materialized (
  select vm_id from goal_state_heads
   where vm_id in (select vm_id from given where is_hand_out) and held_etag is null order by vm_id for share
), changed as (
  update executions e set ${columns.map(({ name }) => `${name} = g.${name}`).join(', ')}
    from (select * from given order by vm_id) g
   where e.vm_id = g.vm_id and e.id = g.id and e.xmin::text = g.seen
     and (not g.is_hand_out or exists (select from released r where r.vm_id = g.vm_id))
  returning g.n, e.vm_id, e.id, e.run, e.xmin::text as seen, g.lane_taken_at, g.lane_freed_at, g.dropped_secret,
    g.tells_gateways, g.calls
), taken as (
  ${takeLanesSql('select vm_id, lane_taken_at from changed where lane_taken_at is not null')}
), goal as materialized (
  ${openGoalsSql('select vm_id from changed where lane_taken_at is not null or lane_freed_at is not null')}
), freed as (
  ${freeLanesSql(`select c.vm_id, c.lane_freed_at, goal.oldest from changed c left join goal on goal.vm_id = c.vm_id
    where c.lane_freed_at is not null`)}
), called as (
  insert into execution_calls (vm_id, execution_id, run, ${callNames.join(', ')})
  select c.vm_id, c.id, c.run, ${callNames.map((name) => `k.${name}`).join(', ')}
    from changed c cross join lateral json_to_recordset(c.calls) as k (${calls.join(', ')})
  on conflict (vm_id, execution_id, n) do update set ${updates.join(', ')}
   where execution_calls.run < excluded.run or execution_calls.state = 'running'
     or (execution_calls.run = excluded.run and execution_calls.state = excluded.state
       and execution_calls.until_row is null and excluded.until_row is not null)
), dropped as (
  ${deleteSecretsSql('select vm_id, dropped_secret from changed where dropped_secret is not null')}
), marked as (
  ${markHealthDueSql('select vm_id from goal order by vm_id')}
), told as (
  ${insertChangesSql(`select 'execution', vm_id::text from changed union all select 'vm', vm_id::text from goal`)}
)
select coalesce((select json_agg(json_build_object('n', n, 'seen', seen)) from changed), '[]') as written,
  coalesce((select json_agg(json_build_object('topic', topic, 'key', key)) from told where not $2), '[]') as changes,
  coalesce((select json_agg(vm_id) from changed where tells_gateways and not $2), '[]') as "goalStates",
  (select count(pg_notify('${changesChannel}', json_build_object('topic', topic, 'key', key)::text))
     from told where $2),
  (select count(pg_notify('${goalStatesChannel}', vm_id::text)) from changed where tells_gateways and $2)`,
};

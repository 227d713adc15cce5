import { changesChannel, insertChangesSql } from '#server/domain/changes/index.ts';
import { valueBytesSql } from './sealed-node.ts';
import { unitsChannel } from './wake.ts';

/**
 * Ends a run and stores what its hook changed. $1 to $3 are the VM, the run and its unit, $4 is the time, $5 the end of
 * the run and $6 the changes of nodes as JSON, $7 whether to notify.
 *
 * The row of the run is a fence: it is written only while the run is still running and its unit is still on this VM, so
 * a repeated call writes nothing. Locks are taken in the order unit, run, relations by id, as in every transaction that
 * takes several of them, so none wait for each other. Nodes are read under the lock of their relation, and only the
 * keys that the hook changed are written (EN-11). A value with the same fingerprint is no change (EN-40). No part
 * depends on the number of participants (EN-72).
 */
export const flushStatement = {
  name: 'relations-flush',
  text: `
with unit as materialized (
  select id from units where id = $3 and vm_id = $1 and removed_at is null for no key update
), fence as materialized (
  select r.unit_id, r.hook, r.relation_id, r.remote_unit_id, r.due_version
    from unit u join hook_runs r on r.vm_id = $1 and r.id = $2 and r.unit_id = u.id
   where r.outcome = 'running' for no key update of r
), given as materialized (
  select * from jsonb_to_record($5::jsonb) as e (
    outcome text, seconds float8, exit_code int, signal text, views jsonb, refused text, reason jsonb)
), asked as materialized (
  select c.* from jsonb_to_recordset($6::jsonb) as c (relation bigint, set jsonb, gone text[])
   where exists (select from fence)
), locked as materialized (
  select r.id from relations r
   where r.id in (select relation from asked) and r.life = 'alive' order by r.id for no key update
), mine as materialized (
  select p.relation_id, p.unit_id, p.settings, a.set, a.gone
    from locked l join asked a on a.relation = l.id join relation_units p on p.relation_id = l.id
   where p.unit_id = (select unit_id from fence) and p.state = 'in' for no key update of p
), news as materialized (
  select m.relation_id, m.unit_id, m.settings, n.set, n.gone
    from mine m cross join lateral (
      select array(select key from unnest(m.gone) key where m.settings ? key) as gone,
        coalesce((select jsonb_object_agg(s.key, s.value) from jsonb_each(m.set) s
          where m.settings -> s.key ->> 1 is distinct from s.value ->> 1), '{}') as set) n
   where n.set <> '{}' or cardinality(n.gone) > 0
), tick as (
  update relations r set clock = r.clock + 1, moved_at = $4 from news n where r.id = n.relation_id
  returning r.id, r.clock
), written as (
  update relation_units p
     set settings = (p.settings - n.gone) || n.set, version = p.version + 1, clock = t.clock, written_run = $2,
       written_at = $4
    from news n join tick t on t.id = n.relation_id
   where p.relation_id = n.relation_id and p.unit_id = n.unit_id
  returning p.relation_id, p.unit_id, p.version, p.clock, p.settings
), logged as (
  insert into relation_log (relation_id, clock, unit_id, kind, version, delta, run_vm, run_id, at)
  select w.relation_id, w.clock, w.unit_id, 'changed', w.version,
    (select jsonb_object_agg(c.key, jsonb_build_array(n.settings -> c.key -> 0, n.set -> c.key -> 0))
       from (select jsonb_object_keys(n.set) union all select unnest(n.gone)) as c (key)),
    $1, $2, $4
    from written w join news n on n.relation_id = w.relation_id
), seen as (
  insert into relation_seen (relation_id, unit_id, remote_unit_id, version, at)
  select f.relation_id, f.unit_id, f.remote_unit_id, case when f.hook like '%-relation-changed' then f.due_version end, $4
    from fence f join given g on g.outcome = 'succeeded'
    join relation_units p on p.relation_id = f.relation_id and p.unit_id = f.unit_id
    join relation_units m on m.relation_id = f.relation_id and m.unit_id = f.remote_unit_id
   where f.hook ~ '-relation-(joined|changed)$'
  on conflict (relation_id, unit_id, remote_unit_id) do update set version = excluded.version, at = excluded.at
), departed as (
  delete from relation_seen s using fence f join given g on g.outcome = 'succeeded'
   where f.hook like '%-relation-departed' and s.relation_id = f.relation_id and s.unit_id = f.unit_id
     and s.remote_unit_id = f.remote_unit_id
), result as materialized (
  select coalesce((select jsonb_object_agg(relation_id, version) from written), '{}') as versions,
    coalesce((select jsonb_agg(relation order by relation) from asked
      where relation not in (select relation_id from mine)), '[]') as dropped
), ended as (
  update hook_runs r
     set outcome = g.outcome, ended_at = $4, seconds = g.seconds, exit_code = g.exit_code, signal = g.signal,
       views = g.views, refused = g.refused, reason = g.reason,
       result = jsonb_build_object('versions', x.versions, 'dropped', x.dropped)
    from fence f cross join given g cross join result x
   where r.vm_id = $1 and r.id = $2
), told as (
  ${insertChangesSql(`select 'relation', id::text from tick union all select 'unit', unit_id::text from fence`)}
)
select f.hook, f.relation_id as "relationId", x.versions, x.dropped,
  coalesce((select json_agg(json_build_object(
    'keys', (select count(*) from jsonb_object_keys(w.settings)),
    'bytes', (select greatest(2, 1 + sum(octet_length(to_json(s.key)::text) + 2 + ${valueBytesSql('s.value ->> 0')}))
      from jsonb_each(w.settings) s))) from written w), '[]') as sizes,
  coalesce((select json_agg(id) from tick where not $7), '[]') as relations,
  coalesce((select json_agg(json_build_object('topic', topic, 'key', key)) from told where not $7), '[]') as changes,
  (select count(pg_notify('${unitsChannel}', 'r' || id)) from tick where $7),
  (select count(pg_notify('${changesChannel}', json_build_object('topic', topic, 'key', key)::text)) from told where $7)
  from fence f cross join result x`,
};

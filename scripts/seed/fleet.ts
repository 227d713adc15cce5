import type pg from 'pg';
import { defaultTimeouts, packageKey, renderGoalState } from '#server/domain/goal-states/goal-state.ts';
import { casesOf, scenarios, variants } from './cases.ts';
import type { SeedHandler } from './catalogue.ts';

/** The actor of seeded changes, which identifies seeded VMs later. */
export const seededBy = 'Seed';
/** The run ids of the agents that are kept alive and of silent agents. */
export const runs = { alive: 'seed', silent: 'seed-silent' } as const;

const patient = { ...defaultTimeouts, enable: 8 * 3_600 };

export interface FleetOptions {
  vms: number;
  /** Number of VMs that earlier seeds created; the numbers in names continue after them. */
  before: number;
  handlers: readonly SeedHandler[];
  epoch: string;
  now: Date;
}

/**
 * Writes the VMs and all of their data in bulk, in the caller's transaction. Leaves the temporary tables `seed_vms` and
 * `seed_extensions`, which list them.
 */
export async function writeFleet(client: pg.ClientBase, options: FleetOptions): Promise<void> {
  const at = options.now.toISOString();
  await prepareGoals(client, options.handlers);
  await prepareCases(client, options.handlers);
  await prepareVms(client, options);
  await prepareExtensions(client, at);
  await client.query(
    `insert into vms (id, name, tags, created_at, created_by)
     select id, name, tags, created_at, $1 from seed_vms order by id`,
    [seededBy],
  );
  await writeGoalStates(client, options.epoch);
  await writeReports(client);
  // Writes the agents last and with the current time. Writing a large fleet takes minutes, so with an earlier time, the
  // agents would count as silent.
  const heardAt = new Date().toISOString();
  await writeAgents(client, heardAt, options.epoch);
  await writePulses(client, { at, heardAt });
}

/** Prepares every possible goal, both parsed and as the text that agents receive. */
async function prepareGoals(client: pg.ClientBase, handlers: readonly SeedHandler[]): Promise<void> {
  const { rows } = await client.query<{ handler: string; version: string; sha256: string; size: string }>(
    'select handler, version, sha256, size from handler_versions where handler = any($1)',
    [handlers.map(({ handler }) => handler)],
  );
  const packages = new Map(
    rows.map((row) => [packageKey(row.handler, row.version), { sha256: row.sha256, size: Number(row.size) }]),
  );
  const goals = handlers.flatMap((seed) => {
    let from = 0;
    return seed.versions.flatMap(({ version, share }, index) => {
      const range = { from, to: from + share };
      from += share;
      return (['usual', 'patient'] as const).flatMap((timeouts) =>
        (['enabled', 'disabled'] as const).map((state) => {
          const contents = {
            name: seed.name,
            handler: seed.handler,
            requestedVersion: version,
            version,
            state,
            autoUpgradeMinorVersion: false,
            dependsOn: seed.dependsOn.filter((name) => handlers.some((other) => other.name === name)),
            timeouts: timeouts === 'usual' ? defaultTimeouts : patient,
            publicSettings: seed.settings,
            secretId: null,
            sequenceNumber: 1,
          };
          const rendered = JSON.parse(
            renderGoalState({ vmId: '', incarnation: 1, turn: 1 }, [contents], packages, new Map()),
          ) as {
            extensions: unknown[];
          };
          const newest = index === seed.versions.length - 1;
          return { ...range, newest, patience: timeouts, text: JSON.stringify(rendered.extensions[0]), contents };
        }),
      );
    });
  });
  await client.query(
    'create temporary table seed_goals on commit preserve rows as ' +
      recordset(`"from" float8,
    "to" float8, newest boolean, patience text, text text, contents json`),
    [JSON.stringify(goals)],
  );
}

async function prepareCases(client: pg.ClientBase, handlers: readonly SeedHandler[]): Promise<void> {
  const columns = `scenario text, name text, variant int, affected boolean, newest boolean, state text, timeouts text,
    report jsonb, beat jsonb, "beatFile" jsonb, "beatAge" float8, status jsonb, "statusFile" jsonb, concluded text`;
  await client.query(`create temporary table seed_cases as ${recordset(columns)}`, [JSON.stringify(casesOf(handlers))]);
}

const recordset = (columns: string): string => `select * from json_to_recordset($1::json) as r(${columns})`;

/** Prepares one row per VM. Names consist of role, region and number; most VMs are in production. */
async function prepareVms(client: pg.ClientBase, { vms, before, now }: FleetOptions): Promise<void> {
  const scenario = scenarios.map(({ name, where }) => `when ${where} then '${name}'`).join(' ');
  const ago = scenarios.map(({ name, ago: [from, to] }) => `when '${name}' then ${from} + q * ${to - from}`).join(' ');
  await client.query('select setseed(0.42)');
  await client.query(
    `create temporary table seed_vms as
     with drawn as materialized (
       select n, random() as r, random() as q, random() as v, random() as e, random() as c,
         (array['eu1','eu2','us1','us2','ap1','ap2'])[1 + floor(random() * 6)::int] as region,
         (array['db','web','api','cache','worker','files','edge','build'])[1 + floor(random() * 8)::int] as role
       from generate_series(1, $1::int) n
     ), numbered as (
       select *, case when e < 0.6 then 'prod' when e < 0.8 then 'staging' when e < 0.95 then 'test' else 'dev' end as env,
         $2 + row_number() over (partition by role, region order by n) as number,
         $3::timestamptz - make_interval(secs => 3600 * 24 * (45 + c * 300)) as created_at
       from drawn
     ), placed as (select *, case ${scenario} end as scenario from numbered)
     select n, r, q, v, region, role, env, scenario, created_at,
       case scenario ${ago} end as ago,
       (lpad(to_hex((extract(epoch from created_at) * 1000)::bigint), 12, '0') || '7'
         || substr(md5(random()::text), 1, 3) || 'a' || substr(md5(random()::text), 1, 15))::uuid as id,
       role || '-' || region || '-' || lpad(number::text, greatest(3, length(number::text)), '0') as name,
       jsonb_build_object('env', env, 'role', role, 'region', region) as tags
     from placed`,
    [vms, before, now.toISOString()],
  );
  await client.query('create index on seed_vms (id)');
  await client.query('analyze seed_vms');
}

/** Prepares one row per extension, with all of its data. */
async function prepareExtensions(client: pg.ClientBase, at: string): Promise<void> {
  await client.query(
    `create temporary table seed_extensions as
     select v.id as vm_id, v.n, v.q, v.scenario, c.affected, c.name, g.contents ->> 'handler' as handler,
       g.contents ->> 'version' as version, g.contents, g.text, c.state,
       c.report || jsonb_build_object('version', g.contents ->> 'version') as report, c.beat, c."beatFile" as beat_file,
       c."beatAge" as beat_age, c.status, c."statusFile" as status_file, c.concluded,
       t.changed_at, case when v.scenario <> 'never' then t.changed_at + interval '20 seconds' end as delivered_at,
       t.changed_at + interval '25 seconds' as handler_at,
       $1::timestamptz - make_interval(secs => case when v.scenario = 'silent' then 800 else v.q * 250 end) as read_at
     from seed_vms v
     join seed_cases c on c.scenario = v.scenario and c.variant = v.n % ${variants}
     join seed_goals g on g.contents ->> 'name' = c.name and g.contents ->> 'state' = c.state and g.patience = c.timeouts
       and case when c.newest then g.newest else v.v >= g."from" and v.v < g."to" end
     cross join lateral (
       -- What the scenario affects changed when the scenario began; everything else has been unchanged for a long time.
       select $1::timestamptz - make_interval(secs => case
         when c.affected and v.scenario not in ('disk', 'clock-drift', 'heartbeat-lost', 'rule-failed') then v.ago
         else 200000 + v.q * 3000000 end) as changed_at
     ) t`,
    [at],
  );
  await client.query('create index on seed_extensions (vm_id)');
  await client.query('analyze seed_extensions');
}

async function writeGoalStates(client: pg.ClientBase, epoch: string): Promise<void> {
  await client.query(
    `insert into extensions (vm_id, name, handler, requested_version, version, state, auto_upgrade_minor_version,
       depends_on, timeouts, public_settings, sequence_number, changed_at, changed_by, delivered_at, ever_delivered)
     select vm_id, name, handler, version, version, state, false,
       array(select json_array_elements_text(contents -> 'dependsOn')), contents -> 'timeouts',
       contents -> 'publicSettings', 1, changed_at, $1, delivered_at, delivered_at is not null
     from seed_extensions order by vm_id, name`,
    [seededBy],
  );
  await client.query(
    `insert into extension_sequences (vm_id, name, highest) select vm_id, name, 1 from seed_extensions
     order by vm_id, name`,
  );
  await client.query(
    `create temporary table seed_heads as
     select v.id, v.created_at, max(e.changed_at) as published_at, max(e.delivered_at) as delivered_at,
       '{"protocol":1,"vmId":"' || v.id || '","incarnation":2,"extensions":['
         || string_agg(e.text, ',' order by e.name) || ']}' as text,
       ('[' || string_agg(e.contents::text, ',' order by e.name) || ']')::json as contents
     from seed_vms v join seed_extensions e on e.vm_id = v.id group by v.id, v.created_at`,
  );
  await client.query(
    `insert into goal_state_heads (vm_id, incarnation, etag, text, published_at, delivered_incarnation, delivered_at)
     select id, 2, '"' || $1 || '.2"', text, published_at, case when delivered_at is null then 0 else 2 end, delivered_at
     from seed_heads order by id`,
    [epoch],
  );
  await client.query(
    `insert into goal_states (vm_id, incarnation, etag, text, contents, cause, published_at, published_by)
     select id, 1, '"' || $1 || '.1"', '{"protocol":1,"vmId":"' || id || '","incarnation":1,"extensions":[]}', '[]'::json,
       '{"action":"vm.create"}'::jsonb, created_at, $2 from seed_heads
     union all
     select id, 2, '"' || $1 || '.2"', text, contents, '{"action":"extension.set","extension":"metrics"}'::jsonb,
       published_at, $2 from seed_heads`,
    [epoch, seededBy],
  );
}

/** The agents announce intervals of ten minutes, so that a few calls keep them alive. */
async function writeAgents(client: pg.ClientBase, at: string, epoch: string): Promise<void> {
  await client.query(
    `insert into agents (vm_id, credential_hash, certificate, thumbprint, key_hash, name, version, os, enrolled_at)
     select id, 'seed ' || id, '', upper(substr(md5(id::text) || md5(name), 1, 40)), 'seed ' || id, 'annex-agent',
       case when q < 0.8 then '0.2.0' else '0.1.0' end,
       case when r < 0.5 then '{"name":"Debian GNU/Linux","version":"13","arch":"x64"}'
            else '{"name":"Ubuntu","version":"26.04","arch":"x64"}' end::jsonb, created_at
     from seed_vms where scenario <> 'never' order by id`,
  );
  await client.query(
    `insert into agent_presence (vm_id, last_seen_at, next_expected_at, counter, clock_skew_seconds, heartbeat_seconds,
       status_seconds, applied_etag, run, report_number)
     select id, seen, seen + interval '10 minutes', 1, 0, 600, 600, '"' || $2 || '.2"',
       case when scenario = 'silent' then $4 else $3 end, 1
     from seed_vms cross join lateral (
       select case when scenario = 'silent'
         then date_trunc('minute', $1::timestamptz - interval '23 minutes') + make_interval(secs => q * 40)
         else $1::timestamptz - make_interval(secs => q * 250) end as seen
     ) s where scenario <> 'never' order by id`,
    [at, epoch, runs.alive, runs.silent],
  );
}

/** Writes the latest reports and their history. */
async function writeReports(client: pg.ClientBase): Promise<void> {
  await client.query(
    `insert into extension_latest (vm_id, name, handler_state, handler_at, heartbeat, status)
     select vm_id, name, report, case when report is not null then handler_at end, beat, status
     from seed_extensions order by vm_id, name`,
  );
  await client.query(
    `insert into report_history (vm_id, at, kind, extension, sequence_number, current, document)
     select vm_id, at, kind, name, sequence, true, document from (
       select vm_id, name, handler_at as at, 'handler' as kind, 1 as sequence,
         report || jsonb_build_object('extension', name) as document
         from seed_extensions where report is not null and (affected or n % 10 = 0)
       union all
       select vm_id, name, handler_at + interval '15 seconds', 'status', 1,
         jsonb_build_object('extension', name, 'sequenceNumber', 1, 'ageSeconds', 2, 'readSecondsAgo', 1, 'file', status_file)
         from seed_extensions where status is not null
       union all
       select vm_id, name, handler_at + interval '10 seconds', 'heartbeat', null,
         jsonb_build_object('extension', name, 'ageSeconds', 2, 'readSecondsAgo', 1, 'file', beat_file)
         from seed_extensions where beat is not null and (affected or n % 10 = 0)
     ) h order by at`,
  );
}

/**
 * Writes when each document was last read. The times in `seed_extensions` are relative to `at` and are shifted to
 * `heardAt`.
 */
async function writePulses(client: pg.ClientBase, { at, heardAt }: { at: string; heardAt: string }): Promise<void> {
  await client.query(
    `insert into extension_pulse (vm_id, name, handler_sequence, heartbeat_status, heartbeat_read_at,
       heartbeat_age_seconds, status_sequence, status_word, status_read_at, status_age_seconds, concluded_at, concluded_with)
     select vm_id, name, (report ->> 'sequenceNumber')::bigint, beat ->> 'status',
       case when beat is not null then heard_at end, case when beat is not null then beat_age end,
       case when status is not null then 1 end, status ->> 'status',
       case when status is not null then heard_at end, case when status is not null then 6 end,
       case when concluded is not null then handler_at + interval '15 seconds' end, concluded
     from seed_extensions cross join lateral (select read_at + ($2::timestamptz - $1::timestamptz) as heard_at) h
     order by vm_id, name`,
    [at, heardAt],
  );
}

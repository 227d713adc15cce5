import type pg from 'pg';
import { publishCatalogue, seedHandlers } from '#scripts/seed/catalogue.ts';
import type { Services } from '#server/domain/context.ts';
import { defaultTimeouts, packageKey, renderGoalState } from '#server/domain/goal-states/goal-state.ts';
import { checkCounts } from '#server/domain/health/index.ts';
import { readReport } from '#server/domain/reports/read-report.ts';
import { rankOf } from '#server/domain/verdicts/index.ts';
import type { Limits } from '#server/platform/limits.ts';
import { extensionNames, heartbeatFile } from '../load/agents.ts';

export interface BenchFleetOptions {
  vms: number;
  /** Seed of every random value and every credential. */
  seed: string;
  say(line: string): void;
}

/** What the load needs to know about the fleet. */
export interface Fleet {
  vms: number;
  seed: string;
  /** ETag of the goal state that every VM has. */
  etag: string;
}

const handlers = seedHandlers.filter(({ name }) => (Object.values(extensionNames) as string[]).includes(name));

/** Skips checking foreign keys and waiting for the disk, because this data can be generated again. */
const settings = `set session_replication_role = replica; set synchronous_commit = off; set work_mem = '256MB';
  set maintenance_work_mem = '512MB'`;

/**
 * Estimated seconds to write a million VMs. The last readings are dated ahead by the estimated time for this fleet, so
 * that none is out of date when the load begins.
 */
const secondsPerMillion = 60;

/**
 * Fills an empty database with VMs that have real credentials, a goal state with three extensions, and reports on each
 * extension. One VM in a hundred is in transition, one in fifty has failed, and the others are healthy. Handlers are
 * published with the product's verbs; everything else is inserted as rows. There is no history of goal states, because
 * agents never read it.
 */
export async function seedFleet(services: Services, { vms, seed, say }: BenchFleetOptions): Promise<Fleet> {
  const etag = `"${services.epoch}.1"`;
  await publishCatalogue(services);
  const client = await services.db.$client.connect();
  const began = performance.now();
  try {
    await client.query(settings);
    await prepareGoals(client, services.config.limits.report);
    for (const [what, text, values] of steps(vms, seed, etag)) {
      const from = performance.now();
      await client.query(text, values);
      if (vms >= 100_000) say(`${what}: ${((performance.now() - from) / 1_000).toFixed(1)} s`);
    }
  } finally {
    client.release(true);
  }
  // Corrects the counts, as the hourly check does, because the rows were written without the verbs that maintain them.
  await checkCounts(services, new Date());
  say(`${vms} VMs written in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  return { vms, seed, etag };
}

/** Prepares the extensions of a VM, as rows and as the text of a goal state that has a placeholder for the VM's id. */
async function prepareGoals(client: pg.ClientBase, limits: Limits['report']): Promise<void> {
  const { rows } = await client.query<{ handler: string; version: string; sha256: string; size: string }>(
    'select handler, version, sha256, size from handler_versions',
  );
  const packages = new Map(
    rows.map((row) => [packageKey(row.handler, row.version), { sha256: row.sha256, size: Number(row.size) }]),
  );
  const contents = handlers.map(({ name, handler, versions, settings: publicSettings }) => {
    const version = versions.at(-1)?.version ?? '';
    return {
      ...{ name, handler, requestedVersion: version, version, state: 'enabled' as const },
      ...{ autoUpgradeMinorVersion: false, dependsOn: [], timeouts: defaultTimeouts, publicSettings },
      ...{ secretId: null, sequenceNumber: 1 },
    };
  });
  const text = renderGoalState({ vmId: 'VM', incarnation: 1, turn: 1 }, contents, packages, new Map());
  await client.query(
    `create temporary table bench_goals as
     select r.*, $2::text as goal_state from json_to_recordset($1::json) as r(
       name text, handler text, version text, timeouts json, "publicSettings" json, heartbeat jsonb, status jsonb,
       "heartbeatHash" uuid)`,
    [JSON.stringify(contents.map((goal) => ({ ...goal, ...reportedOf(goal.name, limits) }))), text],
  );
}

/** Returns the last report of a healthy extension, parsed like a report from a request. */
function reportedOf(extension: string, limits: Limits['report']) {
  const read = { extension, ageSeconds: 4, readSecondsAgo: 0 };
  const beats = extension === extensionNames.heartbeat;
  const status = {
    name: `${extension}.status`,
    status: 'success',
    message: { id: 'share_mounted', params: ['well'] },
  };
  const { entries } = readReport(
    {
      heartbeats: beats ? [{ ...read, file: heartbeatFile }] : [],
      statuses: [{ ...read, sequenceNumber: 1, file: [{ version: 1, timestampUTC: '2026-01-01T00:00:00Z', status }] }],
    },
    limits,
  );
  const [heartbeat, shown] = (['heartbeat', 'status'] as const).map((kind) =>
    entries.find((entry) => entry.kind === kind),
  );
  const documentOf = (entry: typeof shown): unknown => (entry && 'document' in entry ? entry.document : null);
  // The load's agents report the same heartbeat, so it counts as unchanged.
  return { heartbeat: documentOf(heartbeat), heartbeatHash: heartbeat?.hash ?? null, status: documentOf(shown) };
}

type Step = [what: string, text: string, values?: unknown[]];

/** VM `n` is in transition if n % 100 = 0, and has failed if n % 50 = 1. */
const state = `case when n % 100 = 0 then 'transitioning' when n % 50 = 1 then 'error' else 'success' end`;
const affected = `(g.name = '${extensionNames.status}' and v.state <> 'success')`;

function steps(vms: number, seed: string, etag: string): Step[] {
  const ahead = (vms / 1_000_000) * secondsPerMillion;
  return [
    ...vmSteps(vms, seed),
    ...goalStateSteps(etag),
    ...reportSteps(ahead),
    ...presenceSteps(ahead, etag),
    // Leaves the tables as they are in a running installation, so that no autovacuum runs during the load.
    ['vacuum', 'vacuum (freeze, analyze)'],
  ];
}

/** Returns the SQL for VMs with enrolled agents. */
function vmSteps(vms: number, seed: string): Step[] {
  return [
    [
      'numbers',
      `create temporary table bench_vms as
       select n, name, region, role, env, state, created_at,
         (lpad(to_hex((extract(epoch from created_at) * 1000)::bigint), 12, '0') || '7' || substr(digest, 1, 3) || 'a'
           || substr(digest, 4, 15))::uuid as id
       from (
         select n, md5($2 || ' vm ' || n) as digest, ${state} as state,
           now() - interval '1 day' - make_interval(secs => 20 * ($1 - n)) as created_at,
           region, role, env, role || '-' || region || '-' || lpad(n::text, 7, '0') as name
         from generate_series(1, $1::int) n cross join lateral (select
           (array['eu1','eu2','us1','us2','ap1','ap2'])[1 + n % 6] as region,
           (array['db','web','api','cache','worker','files','edge','build'])[1 + (n / 6) % 8] as role,
           (array['prod','prod','prod','staging','test','dev'])[1 + (n / 48) % 6] as env) t
       ) drawn`,
      [vms, seed],
    ],
    [
      'VMs',
      `insert into vms (id, name, tags, created_at, created_by)
       select id, name, jsonb_build_object('env', env, 'role', role, 'region', region), created_at, 'Bench'
       from bench_vms order by id`,
    ],
    [
      'agents',
      `insert into agents (vm_id, credential_hash, certificate, thumbprint, key_hash, name, version, os, enrolled_at,
         instance_id)
       select id, encode(sha256(convert_to('annex_agent_' || translate(rtrim(encode(
           sha256(convert_to($1 || ' ' || n, 'UTF8')), 'base64'), '='), '+/', '-_'), 'UTF8')), 'hex'),
         '', upper(md5(id::text) || '00000000'), 'bench ' || n, 'annex-agent', '0.1.0',
         '{"name":"Debian GNU/Linux","version":"13","arch":"x64"}', created_at, 'bench-' || n
       from bench_vms order by id`,
      [seed],
    ],
  ];
}

/** Returns the SQL for the three extensions and the goal state of each VM. */
function goalStateSteps(etag: string): Step[] {
  return [
    [
      'extensions',
      `insert into extensions (vm_id, name, handler, requested_version, version, state, auto_upgrade_minor_version,
         depends_on, timeouts, public_settings, sequence_number, changed_at, changed_by, delivered_at, ever_delivered)
       select v.id, g.name, g.handler, g.version, g.version, 'enabled', false, '{}', g.timeouts, g."publicSettings", 1,
         v.created_at, 'Bench', v.created_at, true
       from bench_vms v cross join bench_goals g order by v.id, g.name`,
    ],
    [
      'sequence numbers',
      `insert into extension_sequences (vm_id, name, highest)
       select v.id, g.name, 1 from bench_vms v cross join bench_goals g order by v.id, g.name`,
    ],
    [
      'goal states',
      `insert into goal_state_heads (vm_id, incarnation, etag, text, published_at, delivered_incarnation, delivered_at)
       select v.id, 1, $1, replace(g.goal_state, '"VM"', '"' || v.id || '"'), v.created_at, 1, v.created_at
       from bench_vms v, (select goal_state from bench_goals limit 1) g order by v.id`,
      [etag],
    ],
  ];
}

/** Returns the SQL for the health of VMs and extensions, and the latest reports. */
function reportSteps(ahead: number): Step[] {
  return [
    [
      'health of VMs',
      `insert into vm_health (vm_id, name, tags, health, rank, agent, since)
       select v.id, v.name, t.tags, h.health, h.rank, 'ready', v.created_at
       from bench_vms v join vms t on t.id = v.id join (values ('success', 'healthy', ${rankOf('healthy')}),
         ('transitioning', 'progressing', ${rankOf('progressing')}), ('error', 'failed', ${rankOf('failed')})) h(state, health, rank) using (state) order by v.id`,
    ],
    [
      'health of extensions',
      `insert into extension_health (vm_id, name, handler, goal_version, version, sequence_number, health,
         heartbeat, cause, message_id, since)
       select v.id, g.name, g.handler, g.version, g.version, 1,
         case when ${affected} then case v.state when 'error' then 'failed' else 'progressing' end else 'healthy' end,
         case when g.heartbeat is null then 'none' else 'ready' end,
         case when ${affected} and v.state = 'error' then 'status' end, 'share_mounted', v.created_at
       from bench_vms v cross join bench_goals g order by v.id, g.name`,
    ],
    [
      'reports',
      `insert into extension_latest (vm_id, name, handler_state, handler_at, heartbeat, status)
       select v.id, g.name, jsonb_build_object('version', g.version, 'sequenceNumber', 1, 'state', 'enabled',
           'command', 'enable', 'exitCode', 0, 'timedOut', false, 'attempt', 1), v.created_at, g.heartbeat,
         case when ${affected} then jsonb_set(g.status, '{status}', to_jsonb(v.state)) else g.status end
       from bench_vms v cross join bench_goals g order by v.id, g.name`,
    ],
    [
      'pulses',
      `insert into extension_pulse (vm_id, name, handler_sequence, heartbeat_hash, heartbeat_status, heartbeat_read_at,
         heartbeat_age_seconds, status_sequence, status_word, status_read_at, status_age_seconds, concluded_at,
         concluded_with)
       select v.id, g.name, 1, g."heartbeatHash", g.heartbeat ->> 'status', case when g.heartbeat is not null then r.at end,
         case when g.heartbeat is not null then 4 end, 1,
         case when ${affected} then v.state else g.status ->> 'status' end, r.at, 2,
         v.created_at, case when ${affected} and v.state = 'error' then 'error' else 'success' end
       from bench_vms v cross join bench_goals g
       cross join (select clock_timestamp() + make_interval(secs => $1) as at offset 0) r order by v.id, g.name`,
      [ahead],
    ],
  ];
}

/** Returns the SQL for when each agent was last seen, and when each VM's health is evaluated next. */
function presenceSteps(ahead: number, etag: string): Step[] {
  return [
    [
      'presence',
      `with r as materialized (select clock_timestamp() + make_interval(secs => $1) as at)
       insert into agent_presence (vm_id, last_seen_at, next_expected_at, counter, clock_skew_seconds,
         heartbeat_seconds, status_seconds, applied_etag, run, report_number)
       select id, at, at + interval '150 seconds', 0, 0, 120, 300, $2, 'seed', 1 from bench_vms, r order by id`,
      [ahead, etag],
    ],
    [
      'next looks at health',
      `insert into health_checks (vm_id, due_at)
       select id, now() + make_interval(hours => 12 + n % 24) from bench_vms order by id
       on conflict (vm_id) do update set due_at = excluded.due_at`,
    ],
  ];
}

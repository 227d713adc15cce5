import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { hasProgram, pgbench, provideTestPrograms } from '#server/testing/programs.ts';
import { Latencies } from '../load/latencies.ts';

/**
 * The minimum SQL for a report, in one committed transaction: one row of history with a document of 1.5 kB, and one row
 * of the latest status. The history is partitioned and has one index. There are no foreign keys, so this is slightly
 * cheaper than the product's tables.
 */
const schema = `
  create schema if not exists yardstick;
  create table if not exists yardstick.history (vm_id uuid not null, at timestamptz not null, kind text not null,
    extension text not null, document json not null) partition by range (at);
  create table if not exists yardstick.history_now partition of yardstick.history default;
  create index if not exists history_vm on yardstick.history (vm_id, at);
  create table if not exists yardstick.latest (vm_id uuid not null, name text not null, status text not null,
    code int not null, message text not null, read_at timestamptz not null, primary key (vm_id, name));
  insert into yardstick.latest select md5(n::text)::uuid, 'mount', 'success', 0, 'The share is mounted.', now()
    from generate_series(1, $VMS) n on conflict do nothing;
  analyze yardstick.latest`;

const insert = (vm: string, document: string): string =>
  `insert into yardstick.history (vm_id, at, kind, extension, document)
   values (md5((${vm})::text)::uuid, now(), 'status', 'mount', ${document})`;
const upsert = (vm: string): string =>
  `insert into yardstick.latest as l (vm_id, name, status, code, message, read_at)
   values (md5((${vm})::text)::uuid, 'mount', 'transitioning', 0, 'The share is mounted.', now())
   on conflict (vm_id, name) do update set status = excluded.status, code = excluded.code,
     message = excluded.message, read_at = excluded.read_at`;

const document = JSON.stringify({ extension: 'mount', text: 'x'.repeat(1_460) });

export interface TwoStatements {
  /** The client that was used. */
  by: 'pgbench' | 'pg';
  run(clients: number, seconds: number): Promise<{ perSecond: number; p50Ms: number }>;
}

/**
 * Prepares the baseline for reports in this database. Runs its statements with pgbench if available, otherwise with pg.
 */
export async function prepareTwoStatements(databaseUrl: string, vms: number): Promise<TwoStatements> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(schema.replace('$VMS', String(vms)));
  await client.end();
  await provideTestPrograms([pgbench]);
  return hasProgram('pgbench')
    ? { by: 'pgbench', run: (clients, seconds) => runPgbench(databaseUrl, vms, clients, seconds) }
    : { by: 'pg', run: (clients, seconds) => runPrepared(databaseUrl, vms, clients, seconds) };
}

async function runPgbench(databaseUrl: string, vms: number, clients: number, seconds: number) {
  const folder = mkdtempSync(join(tmpdir(), 'annex-bench-pgbench-'));
  try {
    const script = join(folder, 'script.sql');
    const lines = [
      `\\set vm random(1, ${vms})`,
      'begin;',
      `${insert(':vm', ':document').replaceAll('\n', ' ')};`,
      `${upsert(':vm').replaceAll('\n', ' ')};`,
      'commit;',
    ];
    writeFileSync(script, `${lines.join('\n')}\n`);
    const url = new URL(databaseUrl);
    const child = spawn(
      'pgbench',
      [
        ...['-n', '-M', 'prepared', '-c', String(clients), '-j', String(Math.min(2, clients))],
        ...['-T', String(seconds), '-f', script, '-D', `document=${document}`, '-l'],
        ...['-h', url.searchParams.get('host') ?? url.hostname, '-U', decodeURIComponent(url.username)],
        ...(url.port === '' ? [] : ['-p', url.port]),
        url.pathname.slice(1),
      ],
      {
        cwd: folder,
        env: { PATH: process.env.PATH, PGPASSWORD: decodeURIComponent(url.password) } as unknown as NodeJS.ProcessEnv,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    const code = await new Promise((resolve) => child.on('close', resolve));
    const tps = /tps = ([\d.]+)/.exec(output)?.[1];
    if (code !== 0 || tps === undefined) throw new Error(`pgbench failed:\n${output}`);
    return { perSecond: Number(tps), p50Ms: medianOfLog(folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the median latency from pgbench's logs, which have one line per transaction: client, number, microseconds, … */
function medianOfLog(folder: string): number {
  const latencies = new Latencies();
  for (const name of readdirSync(folder).filter((file) => file.startsWith('pgbench_log'))) {
    for (const line of readFileSync(join(folder, name), 'utf8').split('\n')) {
      const microseconds = Number(line.split(' ')[2]);
      if (microseconds > 0) latencies.record(microseconds / 1_000);
    }
  }
  return latencies.percentiles().p50;
}

async function runPrepared(databaseUrl: string, vms: number, clients: number, seconds: number) {
  const latencies = new Latencies();
  const until = performance.now() + seconds * 1_000;
  const one = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    while (performance.now() < until) {
      const began = performance.now();
      const vm = 1 + Math.floor(Math.random() * vms);
      await client.query({ name: 'begin', text: 'begin' });
      await client.query({ name: 'insert', text: insert('$1::int', '$2'), values: [vm, document] });
      await client.query({ name: 'upsert', text: upsert('$1::int'), values: [vm] });
      await client.query({ name: 'commit', text: 'commit' });
      latencies.record(performance.now() - began);
    }
    await client.end();
  };
  await Promise.all(Array.from({ length: clients }, one));
  return { perSecond: latencies.count / seconds, p50Ms: latencies.percentiles().p50 };
}

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { type PostgresIdentity, postgresIdentity } from '#server/platform/postgres-identity.ts';
import { processesIn, signal, waitUntil } from '#server/platform/processes.ts';

/** One PostgreSQL server of the pair. */
export interface Server {
  port: number;
  /** Kills the server and all of its child processes immediately. */
  kill(): Promise<void>;
  /** Freezes the server, as if its machine had disappeared: connections stay open, but nothing responds. */
  freeze(): Promise<void>;
}

/** A primary and the replica that must confirm its commits. */
export interface Pair {
  primary: Server;
  replica: Server;
  version: string;
  /** A `DATABASE_URL` that names both servers. */
  url: string;
  replicaUrl: string;
  promote(): Promise<void>;
  stop(): Promise<void>;
}

const host = '127.0.0.1';
const database = 'annex';
const replicaName = 'annex_replica';

/**
 * Returns the folder of Debian's PostgreSQL server; null if version 15 or newer is not installed. The binaries from npm
 * are not enough, because they lack `pg_basebackup`.
 */
export function serverTools(): string | null {
  const versions = '/usr/lib/postgresql';
  const [newest] = (existsSync(versions) ? readdirSync(versions) : [])
    .filter((name) => Number(name) >= 15 && existsSync(join(versions, name, 'bin', 'pg_basebackup')))
    .sort((a, b) => Number(b) - Number(a));
  return newest === undefined ? null : join(versions, newest);
}

/** Starts a primary and a replica, and makes commits wait for the replica. */
export async function startPair(folder: string, tools: string, [one, two]: [number, number]): Promise<Pair> {
  const bin = (name: string): string => join(tools, 'bin', name);
  const identity = await postgresIdentity(folder, { native: tools, initdb: bin('initdb'), postgres: bin('postgres') });
  const password = randomBytes(24).toString('hex');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  await identity.own(passwordFile);
  const directory = async (name: string): Promise<string> => {
    const path = join(folder, name);
    await mkdir(path, { mode: 0o700 });
    await identity.own(path);
    return path;
  };
  const run = (command: string, args: string[]): void => runTool(identity, folder, command, args);
  const urlOf = (port: number, name = database): string => `postgres://postgres:${password}@${host}:${port}/${name}`;

  const first = await directory('one');
  const access = ['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '-U', 'postgres'];
  run(bin('initdb'), ['-D', first, ...access, '-E', 'UTF8', '--locale=C.UTF-8', '--no-instructions']);
  const primary = await startServer(identity, first, one, urlOf(one, 'postgres'));
  await query(urlOf(one, 'postgres'), `create database ${database}`);

  const second = await directory('two');
  const source = `host=${host} port=${one} user=postgres password=${password} application_name=${replicaName}`;
  run(bin('pg_basebackup'), ['-D', second, '-d', source, '-c', 'fast', '-R', '-X', 'stream']);
  const replica = await startServer(identity, second, two, urlOf(two, 'postgres'));
  // Changes the setting after the copy, so that the replica does not have it. Once promoted, the replica has no other
  // server to wait for.
  await query(urlOf(one), `alter system set synchronous_standby_names = '${replicaName}'`);
  await query(urlOf(one), 'select pg_reload_conf()');
  const isSynchronous = async (): Promise<boolean> =>
    (await query(urlOf(one), `select 1 from pg_stat_replication where sync_state = 'sync'`)).length === 1;
  if (!(await waitUntil(isSynchronous, 10_000))) throw new Error('The replica did not become synchronous.');
  const [row] = await query<{ version: string }>(urlOf(one), `select current_setting('server_version') as version`);
  return {
    primary,
    replica,
    version: row?.version ?? '',
    url: `postgres://postgres:${password}@${host}:${one},${host}:${two}/${database}?target_session_attrs=read-write`,
    replicaUrl: urlOf(two),
    promote: async () => void (await query(urlOf(two), 'select pg_promote(true, 30)')),
    stop: async () => void (await Promise.all([primary.kill(), replica.kill()])),
  };
}

function runTool(identity: PostgresIdentity, cwd: string, command: string, args: string[]): void {
  const wrapped = identity.wrap(command, args);
  const { status, stderr } = spawnSync(wrapped.command, wrapped.args, { ...wrapped, cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed:\n${stderr}`);
}

async function startServer(identity: PostgresIdentity, data: string, port: number, url: string): Promise<Server> {
  const settings = {
    listen_addresses: host,
    port: String(port),
    unix_socket_directories: '',
    shared_buffers: '128MB',
    max_connections: '120',
    max_wal_size: '2GB',
    jit: 'off',
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { command, args, ...as } = identity.wrap(identity.binaries.postgres, ['-D', data, ...flags]);
  const logFile = join(data, '..', `${port}.log`);
  const log = await open(logFile, 'a');
  // Starts the server detached, so that Ctrl-C in the terminal does not reach it: this command stops its processes in
  // order.
  const child = spawn(command, args, { ...as, cwd: data, stdio: ['ignore', log.fd, log.fd], detached: true });
  await log.close();
  const answers = (): Promise<boolean> =>
    query(url, 'select 1').then(
      () => true,
      () => hasEnded(child),
    );
  if (!(await waitUntil(answers, 30_000)) || hasEnded(child)) {
    throw new Error(`PostgreSQL did not start:\n${await readFile(logFile, 'utf8')}`);
  }
  return {
    port,
    async freeze() {
      for (const pid of await processesIn(data)) signal(pid, 'SIGSTOP');
    },
    async kill() {
      const isGone = async (): Promise<boolean> => {
        const left = await processesIn(data);
        for (const pid of left) signal(pid, 'SIGKILL');
        return left.length === 0;
      };
      await waitUntil(isGone, 10_000);
    },
  };
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

async function query<Row extends pg.QueryResultRow>(connectionString: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { lstat, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { postgresBinaries } from './postgres-binaries.ts';
import { type PostgresIdentity, postgresIdentity } from './postgres-identity.ts';
import { settingsBySize } from './postgres-size.ts';
import { processesIn, signal, waitUntil } from './processes.ts';

export interface PostgresOptions {
  /**
   * Folder for the cluster. It is created if it does not exist. If its path is too long, the socket is in the system's
   * temporary folder.
   */
  dataDir: string;
  /** Called with lines that describe the progress. */
  log?: (line: string) => void;
  /** Name of the database to create; default `annex`. */
  database?: string;
  /** Additional server settings. */
  settings?: Readonly<Record<string, string>>;
}

export interface Postgres {
  /** Connection string over a Unix socket, with the password. It stays the same for a data folder. */
  url: string;
  pid: number;
  /**
   * Stops the server with a fast shutdown (SIGINT), or after 15 seconds with an immediate one. Resolves when it has
   * exited.
   */
  stop(): Promise<void>;
  /** Resolves when the server has exited, for any reason. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const user = 'postgres';
const logLimit = 16 * 1024 * 1024;

/** Default server settings. They keep statements and error details, which may contain input, out of the log file. */
const ours: Readonly<Record<string, string>> = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '150',
  checkpoint_timeout: '15min',
  jit: 'off',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_line_prefix: '%m [%p] ',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/**
 * Starts the embedded PostgreSQL, which listens only on a Unix socket. The caller may be any user, even root. Before
 * the start, ends the processes of an earlier run, and removes a stale lock file or an incomplete cluster. If the
 * server does not start, throws an error with the end of its log.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const dataDir = await realpath(options.dataDir);
  const identity = await postgresIdentity(dataDir, await postgresBinaries());
  const cluster = join(dataDir, 'data');
  const password = await initialise(identity, dataDir, cluster, options);
  await endOrphans(cluster);
  const socket = await socketFolder(identity, dataDir);
  const logFile = await rotatedLog(dataDir);
  const bySize = await settingsBySize(dataDir);
  const settings = { ...ours, ...bySize, unix_socket_directories: socket, ...options.settings };
  const server = await launch(identity, cluster, logFile, settings);
  const url = (database: string): string => address(password, socket, database);
  const database = options.database ?? 'annex';
  await ensureDatabase(url('postgres'), database);
  return { ...server, url: url(database) };
}

const address = (password: string, socket: string, database: string): string =>
  `postgres://${user}:${password}@localhost/${database}?host=${encodeURIComponent(socket)}`;

/** Returns the connection string of a server that another process runs for a data folder; null if none is ready. */
export async function runningPostgres(dataDir: string, database = 'annex'): Promise<string | null> {
  const cluster = join(await realpath(dataDir).catch(() => dataDir), 'data');
  const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  const [pid = '', , , , socket = '', , , state = ''] = lines;
  if (!state.startsWith('ready') || !(await processesIn(cluster)).includes(Number(pid))) return null;
  const password = (await readFile(join(dataDir, 'password'), 'utf8')).trim();
  return address(password, socket, database);
}

/**
 * Creates the cluster if it does not exist. initdb writes to another folder, which is renamed once it is complete, so
 * that a killed initdb leaves no partial cluster. Returns the password.
 */
async function initialise(
  identity: PostgresIdentity,
  dataDir: string,
  cluster: string,
  options: PostgresOptions,
): Promise<string> {
  const passwordFile = join(dataDir, 'password');
  if (await stat(join(cluster, 'PG_VERSION')).catch(() => null)) {
    return (await readFile(passwordFile, 'utf8')).trim();
  }
  options.log?.('Creating the database, on the first start only …');
  const password = randomBytes(24).toString('base64url');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  await identity.own(passwordFile);
  const draft = join(dataDir, 'data.new');
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  await identity.own(draft);
  const { command, args, ...as } = identity.wrap(identity.binaries.initdb, [
    ...['-D', draft, '-U', user, '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
    ...['-E', 'UTF8', '--locale=C.UTF-8', '--no-instructions'],
    ...(options.settings?.fsync === 'off' ? ['--no-sync'] : []),
  ]);
  const result = spawnSync(command, args, { ...as, cwd: dataDir, env: serverEnvironment(), encoding: 'utf8' });
  if (result.status !== 0) {
    throw new Error(`The embedded PostgreSQL could not be set up in ${dataDir}.\n${result.stderr ?? ''}`, {
      cause: result.error,
    });
  }
  await rename(draft, cluster);
  return password;
}

/**
 * Ends the processes of an earlier run. They run in the cluster's folder, so they are found even if their parent was
 * killed and its id reused.
 */
async function endOrphans(cluster: string): Promise<void> {
  const lockFile = join(cluster, 'postmaster.pid');
  const lock = await readFile(lockFile, 'utf8').catch(() => null);
  if (lock === null) return;
  const postmaster = Number(lock.split('\n')[0]);
  const gone = async (): Promise<boolean> => (await processesIn(cluster)).length === 0;
  if ((await processesIn(cluster)).includes(postmaster)) signal(postmaster, 'SIGINT');
  if (!(await waitUntil(gone, 10_000))) {
    for (const pid of await processesIn(cluster)) signal(pid, 'SIGKILL');
    await waitUntil(gone, 5_000);
  }
  // With the old lock file, a zombie or a reused process id would make PostgreSQL believe that the old server is still
  // running.
  if (process.platform === 'linux') await rm(lockFile, { force: true });
}

/**
 * Returns the folder for the socket. The path of a Unix socket can be at most about 107 bytes long. If the path in the
 * data folder would be longer, the socket is in the system's temporary folder.
 */
async function socketFolder(identity: PostgresIdentity, dataDir: string): Promise<string> {
  const near = join(dataDir, 'run');
  const name = `annex-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`;
  const folder = Buffer.byteLength(near) <= 88 ? near : join(tmpdir(), name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await identity.own(folder);
  const found = await lstat(folder);
  const owner = identity.kind === 'nobody' ? 65534 : process.getuid?.();
  if (!found.isDirectory() || (owner !== undefined && found.uid !== owner) || (found.mode & 0o077) !== 0) {
    throw new Error(
      `${folder} belongs to someone else or is open to others; the database's socket is not created there.`,
    );
  }
  return folder;
}

async function rotatedLog(dataDir: string): Promise<string> {
  const file = join(dataDir, 'postgres.log');
  const size = (await stat(file).catch(() => null))?.size ?? 0;
  if (size > logLimit) await rename(file, `${file}.1`);
  return file;
}

/** Returns a minimal environment, because PostgreSQL does not need this process's environment. */
function serverEnvironment(): NodeJS.ProcessEnv {
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
  } as unknown as NodeJS.ProcessEnv;
}

async function launch(
  identity: PostgresIdentity,
  cluster: string,
  logFile: string,
  settings: Readonly<Record<string, string>>,
): Promise<Omit<Postgres, 'url'>> {
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { command, args, ...as } = identity.wrap(identity.binaries.postgres, ['-D', cluster, ...flags]);
  const log = openSync(logFile, 'a', 0o600);
  // Uses a separate process group, so that Ctrl-C in the terminal reaches only the launcher, which stops everything in
  // order.
  const child = spawn(command, args, {
    ...as,
    cwd: cluster,
    env: serverEnvironment(),
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  let ended = false;
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    const end = (code: number | null, by: NodeJS.Signals | null): void => {
      ended = true;
      resolve({ code, signal: by });
    };
    child.once('exit', end);
    child.once('error', () => end(null, null));
  });
  const isReady = async (): Promise<boolean> => {
    const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
    return Number(lines[0]) === child.pid && (lines[7] ?? '').startsWith('ready');
  };
  // After a crash, PostgreSQL first replays its WAL, which may take a while.
  const up = await waitUntil(async () => ended || (await isReady()), 120_000);
  const pid = child.pid;
  if (!up || ended || pid === undefined) {
    if (pid !== undefined && !ended) signal(pid, 'SIGQUIT');
    const tail = (await readFile(logFile, 'utf8').catch(() => '')).split('\n').slice(-12).join('\n');
    throw new Error(`The embedded PostgreSQL did not start. The end of ${logFile}:\n${tail}`);
  }
  const stop = async (): Promise<void> => {
    if (!ended) signal(pid, 'SIGINT');
    const late = setTimeout(() => signal(pid, 'SIGQUIT'), 15_000);
    await exited;
    clearTimeout(late);
  };
  return { pid, stop, exited };
}

async function ensureDatabase(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  // If the server dies between two queries, the client also emits an error event. It is ignored because the next query
  // fails anyway.
  client.on('error', () => {});
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}

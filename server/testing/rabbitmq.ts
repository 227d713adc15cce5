import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { programRoot } from './programs.ts';
import type { TlsFiles } from './tls-authority.ts';

/** A RabbitMQ server that belongs to one test, on loopback and with its own folder. */
export interface RabbitMq {
  port: number;
  /** URL with the credentials of a user who has all permissions. */
  url: string;
  start(): Promise<void>;
  /** Kills the server. Its queues remain on disk. */
  stop(): Promise<void>;
  /** Stops the server and deletes its folder. */
  remove(): Promise<void>;
}

/** How long a server may take to start on a busy machine. */
const startMs = 90_000;

/**
 * Starts RabbitMQ, as Debian ships it, from the packages that `provideTestPrograms` has unpacked, or from the system.
 * With `tls`, it accepts only TLS.
 */
export async function startRabbitMq({ tls }: { tls?: TlsFiles } = {}): Promise<RabbitMq> {
  const folder = await mkdtemp(path.join(tmpdir(), 'annex-rabbitmq-'));
  const [port, distribution, names] = await freePorts(3);
  const files = { home: path.join(folder, 'home'), config: path.join(folder, 'rabbitmq.conf') };
  await mkdir(files.home);
  await writeFile(files.config, configuration(port, tls));
  await writeFile(path.join(folder, 'plugins'), '[].\n');
  const { erlang, rabbit } = findPrograms();
  const env: NodeJS.ProcessEnv = {
    NODE_ENV: 'test',
    PATH: process.env.PATH,
    LD_LIBRARY_PATH: libraries(),
    HOME: files.home,
    LANG: 'C.UTF-8',
    ROOTDIR: erlang.root,
    BINDIR: erlang.bin,
    EMU: 'beam',
    PROGNAME: 'erl',
    ERL_LIBS: path.join(rabbit, 'plugins'),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_PORT: String(names),
    RABBITMQ_HOME: rabbit,
    RABBITMQ_MNESIA_BASE: path.join(folder, 'data'),
    RABBITMQ_LOG_BASE: path.join(folder, 'logs'),
    RABBITMQ_LOGS: '-',
    RABBITMQ_CONFIG_FILE: files.config,
    RABBITMQ_CONF_ENV_FILE: path.join(folder, 'none'),
    RABBITMQ_ENABLED_PLUGINS_FILE: path.join(folder, 'plugins'),
    RABBITMQ_NODENAME: 'annex@localhost',
    RABBITMQ_DIST_PORT: String(distribution),
  };
  // Erlang's name server would otherwise be started as a daemon, which would outlive the test.
  const nameServer = spawn(path.join(erlang.bin, 'epmd'), ['-address', '127.0.0.1', '-port', String(names)], {
    stdio: 'ignore',
    env,
  });
  let server: ChildProcess | null = null;
  const start = async (): Promise<void> => {
    const child = spawn(path.join(erlang.bin, 'erlexec'), startArguments, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    server = child;
    await started(child);
  };
  const stop = async (): Promise<void> => {
    await killed(server);
    server = null;
  };
  const remove = async (): Promise<void> => {
    await stop();
    await killed(nameServer);
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    await start();
  } catch (error) {
    await remove();
    throw error;
  }
  const url = tls === undefined ? `amqp://guest:guest@127.0.0.1:${port}` : `amqps://guest:guest@localhost:${port}`;
  return { port, url, start, stop, remove };
}

/** The arguments that Debian's start script passes to Erlang. The script itself works only if RabbitMQ is installed. */
const startArguments = [
  ...['-noinput', '-s', 'rabbit', 'boot', '-boot', 'start_sasl', '+W', 'w'],
  ...['-syslog', 'logger', '[]', '-syslog', 'syslog_error_logger', 'false'],
  ...['-kernel', 'prevent_overlapping_partitions', 'false', '-kernel', 'inet_dist_use_interface', '{127,0,0,1}'],
];

function configuration(port: number, tls: TlsFiles | undefined): string {
  const listeners =
    tls === undefined
      ? [`listeners.tcp.local = 127.0.0.1:${port}`]
      : [
          ...['listeners.tcp = none', `listeners.ssl.local = 127.0.0.1:${port}`],
          ...[`ssl_options.cacertfile = ${tls.ca}`, `ssl_options.certfile = ${tls.cert}`],
          ...[`ssl_options.keyfile = ${tls.key}`, 'ssl_options.verify = verify_none'],
        ];
  return `${[...listeners, 'log.console = true', 'log.console.level = info', 'log.file = false'].join('\n')}\n`;
}

function findPrograms(): { erlang: { root: string; bin: string }; rabbit: string } {
  for (const base of ['/', programRoot]) {
    const [bin] = globSync('usr/lib/erlang/erts-*/bin', { cwd: base });
    const [rabbit] = globSync('usr/lib/rabbitmq/lib/rabbitmq_server-*', { cwd: base });
    if (bin === undefined || rabbit === undefined) continue;
    const root = path.join(base, 'usr/lib/erlang');
    return { erlang: { root, bin: path.join(base, bin) }, rabbit: path.join(base, rabbit) };
  }
  throw new Error('RabbitMQ is neither installed nor unpacked.');
}

const libraries = () =>
  globSync('usr/lib{,/*-linux-gnu}', { cwd: programRoot })
    .map((folder) => path.join(programRoot, folder))
    .join(':');

async function freePorts(count: number): Promise<[number, number, number]> {
  const probes = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(probes.map((probe) => once(probe, 'listening')));
  const ports = probes.map((probe) => (probe.address() as { port: number }).port);
  await Promise.all(probes.map((probe) => once(probe.close(), 'close')));
  return ports as [number, number, number];
}

/** Resolves when the server accepts connections. */
async function started(server: ChildProcess): Promise<void> {
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`RabbitMQ does not start: ${output.slice(-2_000)}`)), startMs);
    const note = (text: unknown): void => {
      output = `${output}${String(text)}`.slice(-10_000);
      if (!output.includes('Server startup complete')) return;
      clearTimeout(timer);
      resolve();
    };
    server.stdout?.on('data', note);
    server.stderr?.on('data', note);
    server.once('exit', () => {
      clearTimeout(timer);
      reject(new Error(`RabbitMQ ended: ${output.slice(-2_000)}`));
    });
  });
}

async function killed(child: ChildProcess | null): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

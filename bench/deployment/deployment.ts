import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { migrate } from '#db/migrate.ts';
import { type Child, keepRunning } from '#server/launcher/child.ts';
import { type EmbeddedDatabase, keepDatabase } from '#server/launcher/database.ts';
import { doorArguments } from '#server/launcher/door.ts';
import { bareEnvironment, type Config, loadConfig } from '#server/platform/env.ts';
import { type OpenServices, openPool, openServices } from '#server/process/services.ts';

export const root = resolve(import.meta.dirname, '../..');

export interface DeploymentOptions {
  gateways?: number;
  /** Whether to start the worker with the other processes; otherwise, `startWorker` starts it. */
  worker?: boolean;
  /** Folder for the data; by default a new temporary folder. Deleted at the end. */
  folder?: string;
  /** Environment variables of gateway and worker in addition to the defaults. */
  environment?: Record<string, string>;
  /** Keeps the logs of gateways and worker off the terminal. */
  quiet?: boolean;
  say(line: string): void;
}

/**
 * Annex without its pages, for a single run: PostgreSQL, gateways and worker as the launcher runs them, with the
 * default settings, on free ports and with new data.
 */
export interface Deployment {
  /** Services in this process, for SQL and for calling verbs. */
  services: OpenServices;
  databaseUrl: string;
  folder: string;
  database: EmbeddedDatabase;
  gateways: Gateway[];
  /** Returns the worker; undefined before it is started. */
  worker(): Child | undefined;
  startWorker(): Promise<void>;
  /** Starts one more gateway, with further environment variables. */
  startGateway(environment: Record<string, string>): Promise<Gateway>;
  stop(): Promise<void>;
}

export interface Gateway {
  host: string;
  port: number;
  child: Child;
}

const host = '127.0.0.1';
const open = new Set<Deployment>();
const opening = new Set<Promise<Deployment>>();

/** Starts a deployment. If that fails, stops everything that has started, and throws. */
export function startDeployment(options: DeploymentOptions): Promise<Deployment> {
  const deployment = build(options);
  opening.add(deployment);
  return deployment.finally(() => opening.delete(deployment));
}

async function build(options: DeploymentOptions): Promise<Deployment> {
  const { gateways: count = 1, environment = {}, say } = options;
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'annex-bench-'));
  const endings: (() => Promise<unknown> | unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  let ended: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    for (let next = endings.pop(); next !== undefined; next = endings.pop()) await next();
  };
  try {
    const database = await keepDatabase(folder, say);
    endings.push(() => database.stop());
    const [portalPort = 0, ...ports] = await freePorts(count + 1);
    const variables = {
      DATA_DIR: folder,
      DATABASE_URL: database.url,
      HOST: host,
      PORT: String(portalPort),
      ANNEX_LOG: 'warn',
      ...environment,
    };
    const services = await prepare(
      loadConfig({ ...variables, ANNEX_LOG: 'error', GATEWAY_PORT: String(ports[0] ?? 0) }),
    );
    endings.push(() => services.close());
    const doors: Child[] = [];
    endings.push(() => Promise.all(doors.map((door) => door.stop())));
    const start = async (
      name: 'gateway' | 'worker',
      port: number,
      more: Record<string, string> = {},
    ): Promise<Child> => {
      const child = keepRunning({
        name,
        args: doorArguments(root, name),
        cwd: root,
        env: { ...bareEnvironment(), ...variables, ...more, GATEWAY_PORT: String(port) },
        say,
        tellsReady: true,
        quiet: options.quiet,
      });
      doors.push(child);
      await child.ready;
      return child;
    };
    const gateways = await Promise.all(
      ports.map(async (port) => ({ host, port, child: await start('gateway', port) })),
    );
    let worker: Child | undefined;
    const deployment: Deployment = {
      services,
      databaseUrl: database.url,
      folder,
      database,
      gateways,
      worker: () => worker,
      startWorker: async () => {
        worker ??= await start('worker', ports[0] ?? 0);
      },
      startGateway: async (more) => {
        const [port = 0] = await freePorts(1);
        return { host, port, child: await start('gateway', port, more) };
      },
      stop: () => {
        // Concurrent callers wait for the same promise.
        ended ??= end().finally(() => open.delete(deployment));
        return ended;
      },
    };
    open.add(deployment);
    if (options.worker === true) await deployment.startWorker();
    return deployment;
  } catch (error) {
    await end();
    throw error;
  }
}

/** Stops all deployments that are running or starting. */
export async function stopDeployments(): Promise<void> {
  await Promise.allSettled(opening);
  await Promise.all([...open].map((deployment) => deployment.stop()));
}

async function prepare(config: Config): Promise<OpenServices> {
  const pool = openPool(config.databaseUrl ?? '', 'launcher');
  try {
    await migrate(pool);
  } finally {
    await pool.end();
  }
  return openServices(config, 'launcher');
}

/** Returns this many free TCP ports of the loopback interface. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer();
      return new Promise<typeof server>((resolve) => server.listen(0, host, () => resolve(server)));
    }),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

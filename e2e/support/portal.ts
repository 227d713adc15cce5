import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { copyDatabase } from './database-template.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** A portal started for tests: real processes on free ports with a separate data folder. */
export interface Portal {
  url: string;
  gatewayUrl: string;
  /** The bootstrap token, which has the rights of an admin in /api/v1. */
  token: string;
  /** The first admin, who signs in on the pages. */
  admin: { email: string; password: string };
  dataDir: string;
  /** File in the data folder with the output of the launcher and its processes. */
  logFile: string;
  /** Stops the portal with SIGTERM and returns the exit code. */
  stop: () => Promise<number | null>;
  /** Stops the portal and starts it with the same data, ports and secrets. */
  restart: () => Promise<void>;
  /** Stops the portal and removes its data. */
  remove: () => Promise<void>;
}

/** Starts the portal as `npm start` does, and waits until it is ready. */
export async function startPortal(environment: Record<string, string> = {}): Promise<Portal> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'annex-e2e-'));
  copyDatabase(dataDir);
  const [freePort, gatewayPort] = await freePorts(2);
  const port = environment.PORT ?? freePort;
  const token = randomBytes(24).toString('hex');
  const admin = { email: 'ada@example.org', password: randomBytes(12).toString('hex') };
  const url = environment.ANNEX_URL ?? `http://127.0.0.1:${port}`;
  const logFile = path.join(dataDir, 'output.log');
  const env = {
    ...process.env,
    PORT: String(port),
    GATEWAY_PORT: String(gatewayPort),
    ANNEX_URL: url,
    DATA_DIR: dataDir,
    ANNEX_BOOTSTRAP_TOKEN: token,
    ANNEX_WIRE: 'on',
    ANNEX_BOOTSTRAP_EMAIL: admin.email,
    ANNEX_BOOTSTRAP_PASSWORD: admin.password,
    ...environment,
  };

  let launcher = await launch(env, logFile, `${url}/readyz`).catch((error: unknown) => {
    rmSync(dataDir, { recursive: true, force: true });
    throw error;
  });
  const stop = async () => {
    if (launcher.exitCode === null && launcher.signalCode === null) {
      const ended = new Promise((resolve) => launcher.once('exit', resolve));
      launcher.kill('SIGTERM');
      await ended;
    }
    return launcher.exitCode;
  };
  return {
    url,
    gatewayUrl: `http://127.0.0.1:${gatewayPort}`,
    token,
    admin,
    dataDir,
    logFile,
    stop,
    restart: async () => {
      await stop();
      launcher = await launch(env, logFile, `${url}/readyz`);
    },
    remove: async () => {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function launch(env: NodeJS.ProcessEnv, logFile: string, readyUrl: string): Promise<ChildProcess> {
  const log = createWriteStream(logFile, { flags: 'a' });
  const child = spawn('node', ['scripts/bootstrap.js', 'scripts/start.ts'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });

  const deadline = Date.now() + 240_000;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) break;
    const ready = await fetch(readyUrl).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return child;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  child.kill('SIGTERM');
  throw new Error(`The portal did not get ready:\n${readFileSync(logFile, 'utf8').slice(-4000)}`);
}

/** Returns `count` TCP ports that are free on the loopback interface. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer();
      return new Promise<typeof server>((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
    }),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

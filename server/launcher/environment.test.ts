import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const token = 'a-token-for-the-test-of-environments-0001';
const password = 'a password for the test of environments';
const secrets = [token, password, 'ANNEX_BOOTSTRAP_TOKEN=', 'ANNEX_BOOTSTRAP_PASSWORD='];
let dataDir: string;
let portal: number;
let started: ChildProcess;
let output = '';

async function freePort(): Promise<number> {
  const probe: Server = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  return port;
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'annex-environment-'));
  portal = await freePort();
  started = spawn('npm', ['start', '--', '--demo'], {
    cwd: root,
    env: {
      ...process.env,
      PORT: String(portal),
      GATEWAY_PORT: String(await freePort()),
      DATA_DIR: dataDir,
      ANNEX_LOG: 'error',
      ANNEX_BOOTSTRAP_TOKEN: token,
      ANNEX_BOOTSTRAP_EMAIL: 'ada@example.org',
      ANNEX_BOOTSTRAP_PASSWORD: password,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [started.stdout, started.stderr]) {
    stream?.on('data', (bytes: Buffer) => {
      output += bytes.toString();
    });
  }
});

afterAll(async () => {
  const ended = once(started, 'exit');
  started.kill('SIGTERM');
  await ended;
  await rm(dataDir, { recursive: true, force: true });
}, 60_000);

/** Returns what `look` finds out about a process; an empty text if the process has ended. */
function ofProcess(look: () => string): string {
  try {
    return look();
  } catch {
    return '';
  }
}

const read = (pid: number, file: string) => ofProcess(() => readFileSync(`/proc/${pid}/${file}`, 'utf8'));

const folderOf = (pid: number) => ofProcess(() => readlinkSync(`/proc/${pid}/cwd`));

/** Returns a process, all of its descendants, and handlers' services, which have detached from their parents. */
function descendants(pid: number): number[] {
  const entries = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number);
  const services = entries.filter((each) => folderOf(each).startsWith(dataDir));
  const parents = entries.map((each) => {
    const stat = read(each, 'stat');
    return [each, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])] as const;
  });
  const found = [pid];
  for (const parent of found) found.push(...parents.filter(([, of]) => of === parent).map(([each]) => each));
  return [...new Set([...found, ...services])];
}

/**
 * Whether the command is the launcher or one of its parent processes. These processes inherit the secrets from the
 * terminal.
 */
const isOnTheWay = (command: string): boolean => /npm|scripts\/bootstrap\.js|scripts\/start\.ts/.test(command);

async function statusOf(path: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return fetch(`http://127.0.0.1:${portal}${path}`, { headers, signal: AbortSignal.timeout(3_000) }).then(
    (response) => response.status,
    () => 0,
  );
}

test("no process of the launcher sees the bootstrap token or password, not even the demo's handlers", {
  timeout: 420_000,
}, async ({ onTestFailed }) => {
  onTestFailed(() => {
    process.stderr.write(output);
  });
  const seen = new Set<string>();
  const leaks = new Set<string>();
  const look = (): void => {
    for (const pid of descendants(started.pid ?? 0)) {
      // Reads the command line before the environment: between fork and exec, both are still the launcher's.
      const command = read(pid, 'cmdline').replaceAll('\0', ' ').trim();
      const environment = read(pid, 'environ');
      if (command === '' || isOnTheWay(command)) continue;
      seen.add(`${command} ${folderOf(pid)}`);
      if (secrets.some((secret) => environment.includes(secret))) leaks.add(command);
    }
  };
  const wasSeen = (part: string): boolean => [...seen].some((command) => command.includes(part));
  const everyKind = [
    'postgres',
    'portal/main.ts',
    'gateway/main.ts',
    'worker/main.ts',
    'agent/main.ts run',
    '/handlers/',
  ];
  const isWhole = (): string[] => {
    look();
    return everyKind.filter((part) => !wasSeen(part));
  };
  await expect.poll(isWhole, { timeout: 400_000, interval: 100 }).toEqual([]);
  expect(await statusOf('/api/v1/vms')).toBe(200);
  expect([...leaks]).toEqual([]);
});

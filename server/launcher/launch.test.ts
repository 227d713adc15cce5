import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { isAlive, processesBelow, processesIn, signal } from '#server/platform/processes.ts';
import { longTest } from '#server/testing/long.ts';
import { Environments } from './testing/environments.ts';

const root = join(import.meta.dirname, '..', '..');
const token = 'a-token-for-the-test-of-the-launcher-0001';
const password = 'a password for the test of the launcher';
const secrets = [token, password, 'ANNEX_BOOTSTRAP_TOKEN=', 'ANNEX_BOOTSTRAP_PASSWORD='];
let dataDir: string;
let ports: { portal: number; gateway: number };
let launcher: Launcher;
/** Watches the processes of the second start, which has a bootstrap password too. */
let environments: Environments | undefined;

interface Launcher {
  process: ChildProcess;
  output(): string;
  ended: Promise<number | null>;
}

function start(env: Record<string, string> = {}): Launcher {
  const child = spawn(process.execPath, ['scripts/bootstrap.js', 'scripts/start.ts', '--demo'], {
    cwd: root,
    env: {
      ...process.env,
      PORT: String(ports.portal),
      GATEWAY_PORT: String(ports.gateway),
      DATA_DIR: dataDir,
      ANNEX_LOG: 'error',
      ANNEX_BOOTSTRAP_TOKEN: token,
      ANNEX_SECURITY_CONTACT: 'mailto:security@annex.example',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  return { process: child, output: () => output, ended: once(child, 'exit').then(([code]) => code as number | null) };
}

async function statusOf(port: number, path: string): Promise<number> {
  return fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(3_000) }).then(
    (response) => response.status,
    () => 0,
  );
}

/** Waits for the message that Annex is ready. On exit or timeout, fails with the output. */
async function ready({ output, ended }: Launcher, ms: number): Promise<void> {
  const failed = ended.then((code): never => {
    throw new Error(`ended with ${code}: ${output()}`);
  });
  const block = vi.waitFor(() => expect(output()).toContain('Annex is ready'), { timeout: ms, interval: 100 });
  await Promise.race([block, failed]);
}

const eventually = (status: () => Promise<number>, ms = 20_000) => expect.poll(status, { timeout: ms, interval: 50 });

async function freePort(): Promise<number> {
  const probe: Server = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  return port;
}

async function postmaster(): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'annex-launch-'));
  ports = { portal: await freePort(), gateway: await freePort() };
  launcher = start();
  // Starting takes longer if the pages must be built first.
  await ready(launcher, 240_000);
}, 250_000);

afterAll(async () => {
  environments?.stop();
  launcher.process.kill('SIGTERM');
  await launcher.ended;
  await rm(dataDir, { recursive: true, force: true });
}, 60_000);

test('one block shows the address and the first steps', async () => {
  expect(launcher.output()).toMatch(new RegExp(`Portal +http://localhost:${ports.portal}\\n`));
  expect(launcher.output()).toMatch(/\/set-up\?token=annex_setup_[\w-]{43}\n/);
  for (const port of [ports.portal, ports.gateway]) {
    expect(await statusOf(port, '/healthz')).toBe(200);
    expect(await statusOf(port, '/readyz')).toBe(200);
  }
});

test.each([
  ['/favicon.ico', 'image/x-icon'],
  ['/icon.svg', 'image/svg+xml'],
  ['/icon-192.png', 'image/png'],
  ['/icon-512.png', 'image/png'],
  ['/icon-maskable.png', 'image/png'],
  ['/apple-touch-icon.png', 'image/png'],
  ['/site.webmanifest', 'application/manifest+json'],
  ['/robots.txt', 'text/plain; charset=UTF-8'],
  ['/.well-known/security.txt', 'text/plain; charset=utf-8'],
])('%s is served without sign-in as %s', async (path, type) => {
  const response = await fetch(`http://127.0.0.1:${ports.portal}${path}`, { redirect: 'manual' });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
  expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(20);
});

test('robots.txt excludes crawlers, pages link icons and manifest, and security.txt has not expired', async () => {
  const read = async (path: string) => (await fetch(`http://127.0.0.1:${ports.portal}${path}`)).text();
  expect(await read('/robots.txt')).toBe('User-agent: *\nDisallow: /\n');
  const page = await read('/sign-in');
  const { icons } = JSON.parse(await read('/site.webmanifest')) as { icons: { src: string }[] };
  for (const path of ['/favicon.ico', '/icon.svg', '/apple-touch-icon.png', '/site.webmanifest']) {
    expect(page).toContain(`href="${path}"`);
  }
  for (const { src } of icons) expect([src, await statusOf(ports.portal, src)]).toEqual([src, 200]);
  const [contact, expires = '', canonical] = (await read('/.well-known/security.txt')).split('\n');
  expect([contact, canonical]).toEqual([
    'Contact: mailto:security@annex.example',
    `Canonical: http://localhost:${ports.portal}/.well-known/security.txt`,
  ]);
  const days = (Date.parse(expires.replace('Expires: ', '')) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(80);
  expect(days).toBeLessThan(365);
});

interface Extension {
  goal: string;
  handlerState: { state: string } | null;
  status: { status: string } | null;
}

/** Returns the states of all extensions, as `goal/handler state/status`. */
async function extensionStates(): Promise<string[]> {
  const read = async <T>(path: string): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${ports.portal}/api/v1${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return (await response.json()) as T;
  };
  const { items } = await read<{ items: { id: string }[] }>('/vms');
  const views = await Promise.all(items.map(({ id }) => read<{ extensions: Extension[] }>(`/vms/${id}/instance-view`)));
  return views
    .flatMap(({ extensions }) => extensions)
    .map((one) => `${one.goal}/${one.handlerState?.state ?? 'none'}/${one.status?.status ?? 'none'}`)
    .sort();
}

longTest('the demo shows machines whose agents report every state', { timeout: 90_000 }, async () => {
  await expect
    .poll(extensionStates, { timeout: 60_000, interval: 500 })
    .toEqual([
      'disabled/disabled/success',
      'enabled/enabled/success',
      'enabled/enabled/transitioning',
      'enabled/enabled/warning',
      'enabled/failed/error',
      'enabled/waiting/none',
    ]);
});

test('a second start with the same data folder is rejected with a message', { timeout: 60_000 }, async () => {
  const second = start();
  expect(await second.ended).toBe(1);
  expect(second.output()).toContain(`Annex is already running with the data in ${dataDir}`);
});

test('a port in use is rejected with a message', { timeout: 60_000 }, async () => {
  const elsewhere = await mkdtemp(join(tmpdir(), 'annex-launch-'));
  const other = start({ DATA_DIR: elsewhere });
  expect(await other.ended).toBe(1);
  expect(other.output()).toContain(`port ${ports.portal} on 127.0.0.1 is in use`);
  await rm(elsewhere, { recursive: true, force: true });
});

test('the database restarts after kill -9, and healthz keeps responding', { timeout: 60_000 }, async () => {
  const killed = await postmaster();
  signal(killed, 'SIGKILL');
  for (const port of [ports.portal, ports.gateway]) expect(await statusOf(port, '/healthz')).toBe(200);
  // During the restart, PostgreSQL's lock file can be absent or empty.
  const isAnother = async () => ![0, killed].includes(await postmaster().catch(() => 0));
  await expect.poll(isAnother, { timeout: 20_000, interval: 50 }).toBe(true);
  for (const port of [ports.portal, ports.gateway]) {
    expect(await statusOf(port, '/healthz')).toBe(200);
    await eventually(() => statusOf(port, '/readyz')).toBe(200);
  }
});

test('without ANNEX_FABRIC, no fabric runs', async () => {
  expect(await processOf('fabric')).toBe(0);
});

longTest('the gateway restarts after kill -9', { timeout: 60_000 }, async () => {
  const gateway = await processOf('gateway');
  expect(gateway).toBeGreaterThan(0);
  signal(gateway, 'SIGKILL');
  await eventually(() => statusOf(ports.gateway, '/healthz')).toBe(0);
  await eventually(() => statusOf(ports.gateway, '/healthz')).toBe(200);
});

test('children exit when the launcher is killed, and the next start takes over', {
  timeout: 120_000,
}, async () => {
  const [pid] = (await readFile(join(dataDir, 'launcher.lock'), 'utf8')).split(' ');
  signal(Number(pid), 'SIGKILL');
  await launcher.ended;
  await eventually(() => statusOf(ports.portal, '/healthz')).toBe(0);
  await eventually(() => statusOf(ports.gateway, '/healthz')).toBe(0);
  launcher = start({
    ANNEX_BOOTSTRAP_EMAIL: 'ada@example.org',
    ANNEX_BOOTSTRAP_PASSWORD: password,
    ANNEX_FABRIC: 'proxy',
  });
  environments = new Environments(launcher.process.pid ?? 0, dataDir, secrets);
  await ready(launcher, 60_000);
  expect(await statusOf(ports.portal, '/readyz')).toBe(200);
});

test("no process of the launcher sees the bootstrap token or password, not even the demo's handlers", {
  timeout: 120_000,
}, async () => {
  const doors = ['portal/main.ts', 'gateway/main.ts', 'worker/main.ts', 'fabric/main.ts'];
  const parts = [...doors, 'agent/main.ts run', '/handlers/', 'postgres'];
  await expect.poll(() => environments?.unseen(parts), { timeout: 100_000, interval: 100 }).toEqual([]);
  expect([...(environments?.leaks ?? ['nothing was watched'])]).toEqual([]);
});

test('SIGTERM stops everything, the fabric too, with exit code 0 and leaves no process', {
  timeout: 60_000,
}, async () => {
  const [server, fabric] = [await postmaster(), await processOf('fabric')];
  expect(fabric).toBeGreaterThan(0);
  launcher.process.kill('SIGTERM');
  expect(await launcher.ended).toBe(0);
  for (const each of [server, fabric]) expect(await isAlive(each)).toBe(false);
  expect(await processesBelow(dataDir)).toEqual([]);
  expect(await statusOf(ports.portal, '/healthz')).toBe(0);
  expect(await statusOf(ports.gateway, '/healthz')).toBe(0);
});

/** Returns the id of a process that this test's launcher started. Other launchers may be running on this machine. */
async function processOf(door: 'gateway' | 'fabric'): Promise<number> {
  const read = (pid: number, file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  for (const pid of await processesIn(root)) {
    const isDoor = (await read(pid, 'cmdline')).includes(`server/${door}/main.ts`);
    if (isDoor && (await read(pid, 'environ')).includes(`DATA_DIR=${dataDir}\0`)) return pid;
  }
  return 0;
}

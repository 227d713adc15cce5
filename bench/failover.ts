import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { migrate } from '#db/migrate.ts';
import { readFlags } from '#scripts/read-flags.ts';
import { type Child, keepRunning } from '#server/launcher/child.ts';
import { bareEnvironment, loadConfig } from '#server/platform/env.ts';
import { type OpenServices, openPool, openServices } from '#server/process/services.ts';
import { lookUp } from './chaos/look-up.ts';
import { freePorts, root } from './deployment/deployment.ts';
import { startReporting } from './failover/reporting.ts';
import { serverTools, startPair } from './failover/servers.ts';
import { seedFleet } from './fleet/seed-fleet.ts';
import { Agents } from './load/agents.ts';

const usage = `usage: npm run failover [-- FLAGS]

Kills a PostgreSQL primary under load, promotes its synchronous replica, and checks that the replica has every
acknowledged report. Needs the PostgreSQL server of Debian (15 or newer): apt-get install postgresql
  --frozen         stops the primary instead, as when a machine loses power
  --gateways N     gateway processes that share the port (2)
  --connections N  connections that report without a pause (64)
  --seconds N      time before the kill, and after the first report that is acknowledged again (5)
  --vms N          VMs in the fleet (1000)`;

const values = readFlags(usage, {
  options: {
    frozen: { type: 'boolean', default: false },
    gateways: { type: 'string', default: '2' },
    connections: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '5' },
    vms: { type: 'string', default: '1000' },
  },
});

const host = '127.0.0.1';
const say = (line: string): void => console.log(`Failover: ${line}`);
const endings: (() => Promise<unknown> | unknown)[] = [];
const end = async (): Promise<void> => {
  for (let next = endings.pop(); next !== undefined; next = endings.pop()) await next();
};

/** Runs the failover. Returns true if no acknowledged report was lost and further reports were acknowledged. */
async function failover(tools: string): Promise<boolean> {
  const [gateways, connections, seconds, vms] = [
    Number(values.gateways),
    Number(values.connections),
    Number(values.seconds),
    Number(values.vms),
  ];
  const folder = mkdtempSync(join(tmpdir(), 'annex-failover-'));
  endings.push(() => rmSync(folder, { recursive: true, force: true }));
  const [one = 0, two = 0, port = 0, portalPort = 0] = await freePorts(4);
  const pair = await startPair(folder, tools, [one, two]);
  endings.push(() => pair.stop());
  say(`PostgreSQL ${pair.version}: primary on ${one}, synchronous replica on ${two}`);

  const variables = {
    ...{ DATA_DIR: folder, DATABASE_URL: pair.url, HOST: host, PORT: String(portalPort), GATEWAY_PORT: String(port) },
    ...{ GATEWAY_WORKERS: String(gateways), ANNEX_LOG: 'error', ANNEX_VM_RATE: '0' },
  };
  const fleet = await prepare(variables, async (services) => seedFleet(services, { vms, seed: 'failover', say }));
  const children = Array.from({ length: gateways }, (_, i) => startGateway(i + 1, variables));
  endings.push(() => Promise.all(children.map((child) => child.stop())));
  await Promise.all(children.map((child) => child.ready));

  const agents = new Agents({ count: vms, seed: fleet.seed, etag: fleet.etag, run: `failover-${process.pid}` });
  const load = startReporting(agents, host, port, connections);
  await delay(seconds * 1_000);
  const before = load.tally.good;
  say(`${before} reports acknowledged in ${seconds} s; ${values.frozen ? 'freezing' : 'killing'} the primary`);
  await (values.frozen ? pair.primary.freeze() : pair.primary.kill());
  const killed = performance.now();
  const acknowledgedAgain = load.nextAcknowledgement();
  await pair.promote();
  const promoted = performance.now();
  const again = await acknowledgedAgain;
  await delay(seconds * 1_000);
  await load.stop();

  const { lost, behind, twice } = await lookUp(pair.replicaUrl, agents.run, load.acknowledged);
  const inSeconds = (from: number, to: number): string => ((to - from) / 1_000).toFixed(2);
  console.log(`
acknowledged before the kill      ${before}
acknowledged after it             ${load.tally.good - before}
other answers (sent again)        ${load.tally.complaint() || 'none'}
acknowledged and lost             ${lost.length}
VMs shown with an older one       ${behind.length}
stored twice                      ${twice}
promoted, seconds after the kill  ${inSeconds(killed, promoted)}
first acknowledgement, seconds
  after the kill                  ${inSeconds(killed, again)}`);
  for (const line of [...lost, ...behind].slice(0, 10)) console.log(`  ${line}`);
  return lost.length + behind.length === 0 && load.tally.good > before;
}

/** Creates the schema on the primary, then calls `work` with services in this process that use the primary. */
async function prepare<T>(variables: Record<string, string>, work: (services: OpenServices) => Promise<T>): Promise<T> {
  const pool = openPool(variables.DATABASE_URL ?? '', 'launcher');
  await migrate(pool).finally(() => pool.end());
  const services = await openServices(loadConfig(variables), 'launcher');
  return await work(services).finally(() => services.close());
}

function startGateway(number: number, variables: Record<string, string>): Child {
  return keepRunning({
    name: `gateway ${number}`,
    args: [join(root, 'server', 'gateway', 'main.ts')],
    cwd: root,
    env: { ...bareEnvironment(), ...variables },
    say,
    tellsReady: true,
  });
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) {
  process.on(name, () => void end().finally(() => process.exit(130)));
}
process.on('uncaughtException', (error) => {
  console.error(error);
  void end().finally(() => process.exit(1));
});
const tools = serverTools();
if (tools === null) {
  console.error(`There is no PostgreSQL server below /usr/lib/postgresql.\n\n${usage}`);
  process.exitCode = 2;
} else {
  await failover(tools)
    .then((isWhole) => {
      process.exitCode = isWhole ? 0 : 1;
    })
    .catch((error: unknown) => {
      console.error(error instanceof Error ? error.message : error);
      process.exitCode = 1;
    })
    .finally(end);
}
// Exits explicitly, because the open channel to the parent process would keep this process running.
process.exit();

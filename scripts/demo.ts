import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Sample, sampleLanguages, samplePackage, sampleResource, sampleSchema, samples } from '#samples/build.ts';
import { bareEnvironment, type Config } from '#server/platform/env.ts';

export interface DemoOptions {
  config: Config;
  root: string;
  /** Starts a process and keeps it running until Annex stops. */
  keep(name: string, args: string[], folder: string): void;
  say(line: string): void;
}

interface DemoExtension {
  name: string;
  handler: string;
  version: string;
  state?: 'enabled' | 'disabled';
  dependsOn?: string[];
  settings?: Sample['settings'];
  timeouts?: { enable: number };
}

/** Timeouts in seconds, long enough that a command in progress does not become overdue while the demo is shown. */
const patient = { enable: 8 * 3_600 };

interface DemoVm {
  name: string;
  tags: Record<string, string>;
  extensions: DemoExtension[];
}

/** The VMs show all states: healthy, warning, failed, waiting for another extension, progressing and disabled. */
const vms: readonly DemoVm[] = [
  {
    name: 'web-1',
    tags: { env: 'prod', role: 'web' },
    extensions: [
      { name: 'probe', handler: 'Acme.Lab.Probe', version: '1.1.0.0' },
      { name: 'metrics', handler: 'Orbit.Metrics.NodeMetrics', version: '3.1.0.0', timeouts: patient },
    ],
  },
  {
    name: 'files-1',
    tags: { env: 'prod', role: 'files' },
    extensions: [
      {
        name: 'share',
        handler: 'Northwind.Storage.Mount',
        version: '2.0.0.0',
        settings: {
          publicSettings: { server: 'files.example.net', user: 'backup', reachable: false },
          protectedSettings: { password: 'demo password' },
        },
      },
      {
        name: 'snapshots',
        handler: 'Northwind.Backup.Snapshot',
        version: '1.2.0.0',
        dependsOn: ['share'],
        timeouts: patient,
      },
    ],
  },
  {
    name: 'edge-1',
    tags: { env: 'test', role: 'edge' },
    extensions: [
      {
        name: 'baseline',
        handler: 'Helix.Security.Baseline',
        version: '5.0.0.0',
        settings: { publicSettings: { rules: 50, secondsPerRule: 30 } },
        timeouts: patient,
      },
      { name: 'probe', handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'disabled' },
    ],
  },
];

/** Creates the demo in an empty database, or completes an interrupted demo. Then starts the demo's agents. */
export async function runDemo(options: DemoOptions): Promise<void> {
  const folder = path.join(options.config.dataDir, 'demo');
  const unfinished = path.join(folder, 'unfinished');
  const api = demoApi(options.config);
  const isEmpty = !existsSync(folder) && (await isEmptyPortal(api));
  if (!isEmpty && !existsSync(folder)) {
    options.say(
      'The demo was not created, because the database is not empty. Set DATA_DIR to a new folder to get one.',
    );
    return;
  }
  if (isEmpty || existsSync(unfinished)) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(unfinished, '');
    options.say('Demo: publishing sample handlers …');
    for (const sample of samples) await publish(api, sample);
    options.say('Demo: creating VMs, agents and goal states …');
    // Waits for all VMs, so that no VM is still being created when the demo is attempted again.
    const made = await Promise.allSettled(vms.map((vm) => makeVm(api, options, folder, vm)));
    for (const each of made) if (each.status === 'rejected') throw each.reason;
    await rm(unfinished);
  }
  // When Annex stops, these agents stop as if their machines were switched off: they disable nothing. At the next start,
  // they enable the extensions again.
  for (const vm of vms) {
    const dir = path.join(folder, vm.name);
    if (!existsSync(path.join(dir, 'credential'))) continue;
    const agent = path.join(options.root, 'agent', 'main.ts');
    // The three agents run on this machine, so each keeps its keys in its own folder.
    const pace = ['--heartbeat-seconds', '20', '--status-seconds', '20', '--waagent-folder', 'none'];
    options.keep(`agent of ${vm.name}`, [agent, 'run', '--dir', dir, ...pace], dir);
  }
  options.say(`Demo: three agents are running. Their folders are in ${folder}.`);
}

type Api = <Answer>(method: string, at: string, body?: unknown, accept?: readonly number[]) => Promise<Answer>;

/**
 * Returns a client of the public API at the address on which the portal listens. `accept` lists statuses to accept
 * besides 2xx.
 */
function demoApi(config: Config): Api {
  const host = ['0.0.0.0', '::'].includes(config.host) ? 'localhost' : config.host;
  const base = `http://${host.includes(':') ? `[${host}]` : host}:${config.port}/api/v1`;
  return async <Answer>(method: string, at: string, body?: unknown, accept: readonly number[] = []) => {
    const isZip = Buffer.isBuffer(body);
    const response = await fetch(base + at, {
      method,
      headers: {
        authorization: `Bearer ${config.bootstrap.token}`,
        ...(body === undefined ? {} : { 'content-type': isZip ? 'application/zip' : 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isZip ? new Uint8Array(body) : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok && !accept.includes(response.status))
      throw new Error(`${method} ${at} answered ${response.status}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  };
}

async function isEmptyPortal(api: Api): Promise<boolean> {
  const lists = await Promise.all(
    ['/vms?limit=1', '/handlers?limit=1'].map((at) => api<{ items: unknown[] }>('GET', at)),
  );
  return lists.every(({ items }) => items.length === 0);
}

/** Publishes a sample. Can be repeated, so the same calls complete an interrupted demo. */
async function publish(api: Api, { handler, version, publisher }: Sample): Promise<void> {
  const at = `/handlers/${handler}/versions/${version}`;
  await api('POST', '/publishers', publisher, [409]);
  await api('PUT', `${at}/package`, await samplePackage(handler, version));
  await api('PUT', `${at}/settings-schema`, sampleSchema(handler), [409]);
  for (const lang of sampleLanguages) await api('PUT', `${at}/resources/${lang}`, sampleResource(handler, lang));
  await api('POST', `${at}/publish`, undefined, [409]);
}

async function makeVm(api: Api, { config, root }: DemoOptions, folder: string, vm: DemoVm): Promise<void> {
  type CreatedVm = { id?: string; enrollmentToken?: string };
  let { id, enrollmentToken }: CreatedVm = await api<CreatedVm>(
    'POST',
    '/vms',
    { name: vm.name, tags: vm.tags },
    [409],
  );
  if (id === undefined) {
    const { items } = await api<{ items: { id: string; name: string }[] }>('GET', `/vms?q=${vm.name}`);
    id = items.find((item) => item.name === vm.name)?.id ?? '';
  }
  for (const { name, settings, state = 'enabled', dependsOn = [], timeouts, handler, version } of vm.extensions) {
    const usual = samples.find((sample) => sample.handler === handler && sample.version === version)?.settings;
    const body = { handler, version, state, dependsOn, timeouts, settings: settings ?? usual };
    await api('PUT', `/vms/${id}/extensions/${name}`, body);
  }
  const dir = path.join(folder, vm.name);
  if (existsSync(path.join(dir, 'credential'))) return;
  enrollmentToken ??= (await api<CreatedVm>('POST', `/vms/${id}/enrollment-token`)).enrollmentToken;
  const args = [
    path.join(root, 'agent', 'main.ts'),
    'enroll',
    '--portal',
    gatewayAddress(config),
    '--dir',
    dir,
    '--name',
    vm.name,
  ];
  const env = { ...bareEnvironment(), ANNEX_ENROLLMENT_TOKEN: enrollmentToken };
  await promisify(execFile)(process.execPath, args, { cwd: root, env });
}

/**
 * Returns the URL that the agents call: the gateway's or, if the gateway uses TLS, the portal's, because the machine
 * may not trust the gateway's certificate.
 */
function gatewayAddress(config: Config): string {
  const host = ['0.0.0.0', '::'].includes(config.host) ? 'localhost' : config.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${config.tls === null ? config.gatewayPort : config.port}`;
}

import { Secret, TOTP } from 'otpauth';
import { samplePackage, sampleResource, sampleSchema } from '#samples/build.ts';
import { loadConfig } from '#server/platform/env.ts';
import { helloPlan } from '../../e2e/support/plan-machine.ts';
import { greetingParameters, greetingPlan } from '../../e2e/support/runbook.ts';
import { zipOf } from '../../e2e/support/zip.ts';
import { executionsOf, type StagedExecutions } from './executions.ts';
import { modelsOf, type StagedModels } from './models.ts';
import { type Api, apiOf, Person, type StorageState } from './portal.ts';
import { rolloutsOf, type StagedRollouts } from './rollouts.ts';

/** The data that screenshots need in addition to the demo. */
export interface ScreenshotStage {
  /** Cookies of three accounts: the admin, a viewer, and a member with a second factor. */
  cookies: Record<'admin' | 'viewer' | 'guarded', StorageState>;
  guarded: { email: string; password: string };
  /** VM ids by name, of the demo's VMs and of the VMs created here. */
  vms: Record<string, string>;
  handler: string;
  /** An execution on the VM files-1. */
  execution: string;
  /** Executions by state. */
  executions: StagedExecutions;
  /** Models by state. */
  models: StagedModels;
  /** A published runbook. */
  runbook: string;
  /** Rollouts by state. */
  rollouts: StagedRollouts;
  invitation: string;
  api: Api;
}

const studio = 'Studio.Lab.Probe';
const crowd = 'Studio.Lab.Crowd';
const mount = 'Northwind.Storage.Mount';
const password = 'a password for pictures';
const enabled = { state: 'enabled' };
const manifestFlags = { rebootAfterInstall: false, reportHeartbeat: false, supportsMultipleExtensions: true };

interface Messages {
  messages: { id: string; text: string }[];
}

/** Returns the sample probe's messages in a language, without those with the given ids. */
function lacking(lang: 'en' | 'de' | 'ja', ...ids: string[]): unknown[] {
  const [file] = sampleResource('Acme.Lab.Probe', lang) as [Messages];
  return [{ ...file, messages: file.messages.filter(({ id }) => !ids.includes(id)) }];
}

/**
 * Creates the data that is missing, so the script can run again. Each run creates a new token and invitation. Requires
 * the demo.
 */
export async function setStage(url: string, admin: Person): Promise<ScreenshotStage> {
  const expiresAt = new Date(Date.now() + 24 * 3_600_000).toISOString();
  const { value } = await admin.mutate<{ value: string }>('tokens.create', {
    name: 'pictures',
    role: 'admin',
    expiresAt,
  });
  const api = apiOf(url, value);
  const handlers = await api<{ items: object[] }>('GET', `/handlers?q=${studio}`);
  if (handlers.items.length === 0) await publishStudio(api);
  const vms: Record<string, string> = {};
  for (const { id, name } of await allVms(api)) vms[name] = id;

  const unheard = {
    ...enabled,
    handler: studio,
    version: '1.0.0.0',
    settings: { publicSettings: { target: 'www.example.net' } },
  };
  const known = await api<object | undefined>('GET', `/vms/${vms['web-1']}/extensions/studio`, undefined, [404]);
  if (known === undefined || !('handler' in known)) {
    await api('PUT', `/vms/${vms['web-1']}/extensions/studio`, unheard);
    await waitForStatus(api, vms['web-1'] ?? '', 'studio');
  }
  await api('POST', `/handlers/${studio}/versions/1.0.0.0/withdraw`, { reason: 'It forgets its last text.' }, [409]);
  vms['held-1'] ??= await makeVm(api, 'held-1', 1);
  vms['bare-1'] ??= await makeVm(api, 'bare-1', 0);
  vms['crowd-1'] ??= await makeVm(api, 'crowd-1', 60);
  vms['past-1'] ??= await makePast(api);

  const invitation = await admin.mutate<{ link: string }>('invitations.create', {
    role: 'operator',
    recipient: 'Olga Berg',
  });
  const runbook = await runbookOf(api);
  const grace = await member(url, admin, 'Grace Olsen', 'operator', true);
  const machines = ['web-1', 'files-1', 'edge-1'].flatMap((name) => vms[name] ?? []);
  return {
    cookies: {
      admin: await admin.cookies(),
      viewer: await (await member(url, admin, 'Vera Lind', 'viewer')).cookies(),
      guarded: await grace.cookies(),
    },
    guarded: { email: emailOf('Grace Olsen'), password },
    vms,
    handler: studio,
    execution: await executionOf(api, vms['files-1'] ?? ''),
    models: await modelsOf(api, loadConfig().gatewayUrl, crowd),
    executions: await executionsOf(api, loadConfig().gatewayUrl, admin, grace),
    runbook,
    rollouts: await rolloutsOf(api, { failing: vms['files-1'] ?? '', machines, runbook }),
    invitation: invitation.link,
    api,
  };
}

interface VmPage {
  items: { id: string; name: string }[];
  nextCursor: string | null;
}

async function allVms(api: Api): Promise<VmPage['items']> {
  const all: VmPage['items'] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: VmPage = await api(
      'GET',
      `/vms?limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    all.push(...page.items);
    cursor = page.nextCursor;
  }
  return all;
}

/** Returns the VM's newest execution, after queuing one if there is none. */
async function executionOf(api: Api, vmId: string): Promise<string> {
  const at = `/vms/${vmId}/executions`;
  const { items } = await api<{ items: { id: string }[] }>('GET', `${at}?limit=1`);
  const known = items[0]?.id;
  return known ?? (await api<{ id: string }>('POST', at, { plan: helloPlan })).id;
}

/** Publishes a runbook, unless it is published already. Returns its name. */
async function runbookOf(api: Api): Promise<string> {
  const name = 'greet';
  const version = `/runbooks/${name}/versions/1.0.0`;
  await api('PUT', version, { title: 'Greet', plan: greetingPlan, parameters: greetingParameters });
  await api('POST', `${version}/publish`);
  return name;
}

/** Publishes two versions with missing texts, creates a draft, and publishes a handler for VMs with many extensions. */
async function publishStudio(api: Api): Promise<void> {
  await api('POST', '/publishers', { namespace: 'Studio.Lab', displayName: 'Studio Lab' }, [409]);
  for (const [version, sample, isPublished] of [
    ['1.0.0.0', '1.0.0.0', true],
    ['1.1.0.0', '1.1.0.0', true],
    ['1.2.0.0', '1.1.0.0', false],
  ] as const) {
    const at = `/handlers/${studio}/versions/${version}`;
    const zip = await samplePackage('Acme.Lab.Probe', sample);
    await api('PUT', `${at}/package`, zip, [409]);
    await api('PUT', `${at}/settings-schema`, sampleSchema('Acme.Lab.Probe'), [409]);
    const gap = version === '1.0.0.0' ? ['probe_watching'] : [];
    await api('PUT', `${at}/resources/en`, lacking('en', ...gap));
    await api('PUT', `${at}/resources/de`, lacking('de', ...gap, 'target_reached'));
    if (isPublished) await api('POST', `${at}/publish`, undefined, [409]);
    // The dialog for publishing the draft then lists platforms that the draft no longer supports.
    else await api('PUT', `${at}/platforms`, { platforms: [{ os: 'linux' }] });
  }
  const at = `/handlers/${crowd}/versions/1.0.0.0`;
  const commands = ['install', 'uninstall', 'update', 'enable', 'disable'].map((name) => [
    `${name}Command`,
    'bin/run.sh',
  ]);
  const handlerManifest = { ...Object.fromEntries(commands), ...manifestFlags };
  const manifest = JSON.stringify([{ version: 1, handlerManifest }]);
  await api(
    'PUT',
    `${at}/package`,
    await zipOf({ 'HandlerManifest.json': manifest, 'bin/run.sh': '#!/bin/sh\n' }),
    [409],
  );
  await api('POST', `${at}/publish`, undefined, [409]);
}

async function makeVm(api: Api, name: string, extensions: number): Promise<string> {
  const made = await api<{ id: string; enrollmentToken: string }>('POST', '/vms', { name, tags: { env: 'test' } });
  const names = Array.from({ length: extensions }, (_, index) => `probe-${String(index + 1).padStart(2, '0')}`);
  for (const extension of names) {
    await api('PUT', `/vms/${made.id}/extensions/${extension}`, { ...enabled, handler: crowd, version: '1.0.0.0' });
  }
  return made.id;
}

/** Creates a VM with secrets, a dependency and several changes of settings. */
async function makePast(api: Api): Promise<string> {
  const { id } = await api<{ id: string }>('POST', '/vms', { name: 'past-1', tags: { env: 'test', role: 'files' } });
  const share = (server: string, secret: string) => ({
    ...enabled,
    handler: mount,
    version: '2.0.0.0',
    settings: { publicSettings: { server, user: 'backup' }, protectedSettings: { password: secret } },
  });
  const at = `/vms/${id}/extensions`;
  await api('PUT', `${at}/share`, share('one.example.net', 'first password'));
  await api('PUT', `${at}/snapshots`, {
    ...enabled,
    handler: 'Northwind.Backup.Snapshot',
    version: '1.2.0.0',
    dependsOn: ['share'],
    settings: { publicSettings: { retain: 7 } },
  });
  await api('PUT', `${at}/share`, share('two.example.net', 'first password'));
  await api('PUT', `${at}/share`, share('two.example.net', 'second password'));
  return id;
}

/** Waits until the extension has reported a status, which makes its message ids known. */
async function waitForStatus(api: Api, vmId: string, extension: string): Promise<void> {
  interface View {
    extensions: { name: string; status: unknown }[];
  }
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    const { extensions } = await api<View>('GET', `/vms/${vmId}/instance-view`);
    if (extensions.some(({ name, status }) => name === extension && status !== null)) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`${extension} has not reported within a minute. Are the demo's agents running?`);
}

const emailOf = (name: string): string => `${name.toLowerCase().replaceAll(' ', '.')}@example.org`;

/** Signs in a member. If the member does not exist, creates them through an invitation link. */
async function member(url: string, admin: Person, name: string, role: string, isGuarded = false): Promise<Person> {
  const email = emailOf(name);
  const { items } = await admin.query<{ items: { id: string; email: string }[] }>('members.list');
  const before = items.find((one) => one.email === email);
  if (before !== undefined) {
    if (!isGuarded) return Person.signedIn(url, email, password);
    // Resets the factors, because the secret of the authenticator app was not kept from the last run.
    await admin.mutate('members.resetFactors', { id: before.id });
  }
  const person = before === undefined ? await Person.guest(url) : await Person.signedIn(url, email, password);
  if (before === undefined) {
    const { link } = await admin.mutate<{ link: string }>('invitations.create', { role });
    const token = new URL(link).searchParams.get('token');
    await person.mutate('invitations.redeem', { token, name, email, password });
  }
  if (isGuarded) {
    await person.mutate('account.confirm', { password });
    const { secret } = await person.mutate<{ secret: string }>('account.startTotp');
    const app = new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) });
    await person.mutate('account.addTotp', { code: app.generate() });
  }
  return person;
}

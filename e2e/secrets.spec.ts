import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import type { NewMachine } from '#server/domain/topology/machine-view.ts';
import type { Attention } from '#server/domain/views/index.ts';
import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import type { AgentProcess } from './support/agent-process.ts';
import { Api, type CreatedVm } from './support/api.ts';
import { dumpDatabase } from './support/database.ts';
import { bootstrappedModel } from './support/model.ts';
import { pageAddresses } from './support/page-addresses.ts';
import { publishRunbook } from './support/runbook.ts';
import { relatedServices } from './support/services.ts';
import { expect, test } from './support/test.ts';
import { type Evidence, filesBelow, tracesOf } from './support/traces.ts';

const patient = { timeout: 30_000, intervals: [100, 250] };
const share = 'share';

const newSecret = (): string => `pw-${randomBytes(15).toString('hex')}`;
const evidenceOf = (where: string, value: unknown): Evidence => ({
  where,
  bytes: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
});

/** Decrypts protected settings as the machine does: with openssl and its private key. */
function openOnMachine(agent: AgentProcess, sealed: string, thumbprint: string): unknown {
  const key = path.join(agent.dir, 'certificates', `${thumbprint}.prv`);
  const args = ['cms', '-decrypt', '-inform', 'DER', '-inkey', key];
  return JSON.parse(execFileSync('openssl', args, { input: Buffer.from(sealed, 'base64') }).toString());
}

const runbookVersion = '2.0.0';

/** Sends every GET request in the OpenAPI document of the management API, as an admin. */
async function everyAnswer(api: Api, parts: Record<string, string>): Promise<Evidence[]> {
  interface Operation {
    parameters?: { name: string; in: string }[];
  }
  const { paths } = await api.call<{ paths: Record<string, { get?: Operation }> }>('GET', '/openapi.json');
  const answers: Evidence[] = [];
  for (const [template, { get }] of Object.entries(paths)) {
    // A VM whose plans are sent over HTTPS has no channel. The calls for formulas are the same as those for handlers, and
    // tests of services search their tables and statements, and what readers see of nodes (EN-64, EN-65).
    const isElsewhere = /\/execution-channel$|\/formulas\/|\/models\/\{model\}\/(services|units|relations)\/\{/;
    if (get === undefined || isElsewhere.test(template)) continue;
    // Versions of handlers have four numbers, versions of runbooks three.
    const known = {
      ...parts,
      ...(template.includes('/runbooks/') && { version: runbookVersion }),
      ...(template.includes('/rollouts/') && { id: parts.rollout ?? '' }),
      ...(template.includes('/cloud-services/') && { name: parts.cloudService ?? '' }),
    };
    const address = template.replace(/^\/api\/v1/, '').replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = (known as Record<string, string | undefined>)[name];
      if (value === undefined) throw new Error(`No value is known for {${name}} of ${template}.`);
      return encodeURIComponent(value);
    });
    const paged = get.parameters?.some(({ name }) => name === 'limit') ? '?limit=100' : '';
    const named = template.endsWith('/instances') ? `?ids=${parts.instance}` : paged;
    // A log without lines is an empty response.
    answers.push(evidenceOf(`GET ${template}`, (await api.call('GET', address + named)) ?? ''));
  }
  return answers;
}

/** A plan that shows a secret parameter in every way that a plan can show a text. */
const revealingPlan = (user: string) => ({
  FormatVersion: '2.0.0',
  Name: 'Reveal',
  Parameters: { user },
  Body: `import base64, sys
print(args.user, args.password)
for c in args.password: sys.stderr.write(c)
api.logInfo({args.user: args.password})
api.logError(base64.b64encode(('xy' + args.password).encode()).decode())
try:
  reveal(args.password)
except ScriptError as error:
  api.logFatalError(error)
raise ValueError(args.user + args.password)`,
  Scripts: {
    reveal: {
      Type: 'Application',
      EntryPoint: 'f',
      Options: { commandLine: '', environment: { SECRET: '{0}' }, stdin: '{0}' },
    },
  },
  Files: { f: { Name: 'f.sh', BodyType: 'Text', Body: '#!/bin/sh\necho "$SECRET"\nbase64 >&2\nexit 3\n' } },
});

/**
 * Queues a plan with a secret parameter, and waits until the machine has sent its result. Returns the execution's id and
 * the responses.
 */
async function finishedExecution(
  api: Api,
  vm: CreatedVm,
  user: string,
  password: string,
): Promise<{ execution: string; responses: Evidence[] }> {
  const at = `/vms/${vm.id}/executions`;
  const plan = revealingPlan(user);
  const body = { plan, secretParameters: { password } };
  const queued = await api.call<{ id: string }>('POST', at, { body });
  const twice = { ...body, secretParameters: { password, user: password } };
  const refused = await api.call('POST', at, { body: twice, status: 422 });
  const errorCode = async () => (await api.call<{ errorCode: number | null }>('GET', `${at}/${queued.id}`)).errorCode;
  await expect.poll(errorCode, patient).toBe(1);
  const log = await api.call<string>('GET', `${at}/${queued.id}/log`);
  expect(log.split('[masked]').length, log).toBeGreaterThan(6);
  return { execution: queued.id, responses: [evidenceOf('queued', queued), evidenceOf('refused', refused)] };
}

/** How many tabs open the pages. */
const tabsAtOnce = 2;

/** Opens every page. Collects all responses and, for each page, the rendered HTML and a client navigation's response. */
async function everyPage(page: Page, addresses: readonly string[]): Promise<Evidence[]> {
  const parts = Array.from({ length: tabsAtOnce }, (_, n) => addresses.filter((_, index) => index % tabsAtOnce === n));
  const found = parts.map(async (part, n) => visitPages(n === 0 ? page : await page.context().newPage(), part));
  return (await Promise.all(found)).flat();
}

async function visitPages(page: Page, addresses: readonly string[]): Promise<Evidence[]> {
  const found: Evidence[] = [];
  const bodies: Promise<unknown>[] = [];
  page.on('requestfinished', (request) => {
    if (new URL(request.url()).pathname.startsWith('/_next/static/')) return;
    const keep = async () => {
      const bytes = await (await request.response())?.body();
      if (bytes) found.push({ where: `answer ${request.url()}`, bytes });
    };
    // A redirect and an aborted response have no body.
    bodies.push(keep().catch(() => undefined));
  });
  for (const address of addresses) {
    await page.goto(address);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
    found.push(evidenceOf(`page ${address}`, await page.content()));
    const soft = await page.request.get(address, { headers: { rsc: '1' } });
    found.push({ where: `soft navigation to ${address}`, bytes: await soft.body() });
  }
  await Promise.all(bodies);
  return found;
}

test('MU-44 a secret is stored, used on the machine, and found nowhere else', { tag: '@long' }, async ({
  api,
  portal,
  signedIn,
  startAgent,
  unique,
}) => {
  test.setTimeout(120_000);
  const handler = `Journey.${unique}.Mount`;
  const user = `user-${randomBytes(6).toString('hex')}`;
  const secrets = {
    first: newSecret(),
    second: newSecret(),
    refused: newSecret(),
    broken: newSecret(),
    viaPage: newSecret(),
    failing: newSecret(),
    parameter: newSecret(),
    rollout: newSecret(),
  };
  const responses: Evidence[] = [];
  const page = await signedIn('admin');

  await test.step('the search recognizes encodings of a secret', () => {
    const { first } = secrets;
    const hidden = ['', 'x', 'xy'].flatMap((before) => {
      const bytes = Buffer.from(`${before}${first}${before}`);
      return (['utf8', 'hex', 'base64', 'base64url', 'utf16le'] as const).map((form) => ({
        where: form,
        bytes: form === 'utf16le' ? Buffer.from(bytes.toString(), form) : Buffer.from(bytes.toString(form)),
      }));
    });
    for (const evidence of hidden) expect(tracesOf(first, [evidence]), evidence.where).not.toEqual([]);
    expect(tracesOf(first, [evidenceOf('another', secrets.second)])).toEqual([]);
  });

  await api.publishSample('Northwind.Storage.Mount', '2.0.0.0', handler);
  const vm = await api.createVm(`secrets-${unique}`);
  const goal = (protectedSettings: unknown) => ({
    handler,
    version: '2.0.0.0',
    state: 'enabled' as const,
    settings: { publicSettings: { server: 'files.example.net', user }, protectedSettings },
  });
  const at = `/vms/${vm.id}/extensions/${share}`;
  const mountedWith = async (sequenceNumber: number, secret: string, agent: AgentProcess) => {
    await expect
      .poll(async () => (await api.instanceView(vm.id)).extensions[0]?.status, patient)
      .toMatchObject({ sequenceNumber, status: 'success' });
    const { extensions } = await api.goalState(vm.id);
    const { protectedSettings = '', protectedSettingsCertThumbprint = '' } = extensions[0]?.settings ?? {};
    expect(openOnMachine(agent, protectedSettings, protectedSettingsCertThumbprint)).toEqual({ password: secret });
  };

  const agent =
    await test.step('a secret is entered before the machine enrolls, and the machine decrypts it', async () => {
      responses.push(evidenceOf('PUT', await api.call('PUT', at, { body: goal({ password: secrets.first }) })));
      const started = await startAgent(vm);
      await mountedWith(1, secrets.first, started);
      return started;
    });

  await test.step('rejected requests do not repeat the secret', async () => {
    const wrong = goal({ password: secrets.refused, passwort: secrets.refused });
    responses.push(evidenceOf('PUT refused', await api.call('PUT', at, { body: wrong, status: 422 })));
    responses.push(
      evidenceOf('PUT of a text', await api.call('PUT', at, { body: goal(secrets.refused), status: 422 })),
    );
    const broken = await fetch(`${portal.url}/api/v1${at}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${portal.token}`, 'content-type': 'application/json' },
      body: `{"settings":{"protectedSettings":{"password":"${secrets.broken}"`,
    });
    expect(broken.status).toBe(400);
    responses.push(evidenceOf('PUT cut off', await broken.text()));
  });

  await test.step('another secret is entered through the pages', async () => {
    for (const [procedure, protectedSettings, status] of [
      ['setExtension', { password: secrets.refused, passwort: secrets.refused }, 422],
      ['planExtension', { password: secrets.refused, passwort: secrets.refused }, 200],
      ['setExtension', { password: secrets.viaPage }, 200],
    ] as const) {
      const answer = await page.request.post(`/api/trpc/goalStates.${procedure}`, {
        headers: { origin: portal.url },
        data: { json: { vmId: vm.id, name: share, goal: goal(protectedSettings) } },
      });
      expect(answer.status(), await answer.text()).toBe(status);
      responses.push(evidenceOf(procedure, await answer.text()));
    }
    await mountedWith(2, secrets.viaPage, agent);
  });

  await test.step('the secret is changed again, and reverted to the first', async () => {
    responses.push(evidenceOf('PUT', await api.call('PUT', at, { body: goal({ password: secrets.second }) })));
    await mountedWith(3, secrets.second, agent);
    responses.push(evidenceOf('revert', await api.call('POST', `/vms/${vm.id}/goal-states/2/revert`)));
    await mountedWith(4, secrets.first, agent);
  });

  const problemKey =
    await test.step('an extension with a secret fails, and is a problem that needs attention', async () => {
      const failing = `Failing.${unique}.Mount`;
      await api.publishSample('Northwind.Storage.Mount', '2.0.0.0', failing);
      await api.setExtension(vm.id, 'failing', {
        handler: failing,
        version: '2.0.0.0',
        settings: {
          publicSettings: { server: 'down.example.net', user, reachable: false },
          protectedSettings: { password: secrets.failing },
        },
      });
      const found = async () => {
        const { items } = await api.call<Attention>('GET', '/attention');
        return items.find(({ extension }) => extension?.handler === failing)?.key ?? '';
      };
      await expect.poll(found, patient).not.toBe('');
      return found;
    });

  const logs = await test.step('outputs of commands are sent, and the log folder on request', async () => {
    const list = `/vms/${vm.id}/outputs`;
    const outputs = () => api.call<{ items: { id: string; storedBytes: number }[] }>('GET', list);
    await expect
      .poll(async () => (await outputs()).items.filter(({ storedBytes }) => storedBytes > 0).length)
      .not.toBe(0);
    const archives = `/vms/${vm.id}/log-archives`;
    const { id: archive } = await api.call<{ id: string }>('POST', archives, { body: { handler } });
    const state = async () => (await api.call<{ items: { state: string }[] }>('GET', archives)).items[0]?.state;
    await expect.poll(state).toBe('there');
    return { output: (await outputs()).items[0]?.id ?? '', archive };
  });

  const rollout = await test.step('a secret is part of the change of a rollout, which is planned', async () => {
    const change = { kind: 'set', handler, publicSettings: { merge: { user } } };
    const { id } = await api.call<{ id: string }>('POST', '/rollouts', {
      body: {
        name: `Mount as ${user}`,
        select: { ids: [vm.id] },
        change: { ...change, protectedSettings: { password: secrets.rollout } },
      },
    });
    responses.push(evidenceOf('POST plan', await api.call('POST', `/rollouts/${id}/plan?wait=30`)));
    return id;
  });

  // The file has the id of the VM, because every other path gets this value for `{id}`.
  await api.call('PUT', `/runbook-files/${vm.id}`, {
    body: Buffer.from('a tool'),
    headers: { 'content-type': 'application/octet-stream' },
  });
  await api.call('PUT', `/runbooks/${share}/versions/${runbookVersion}`, {
    body: { title: 'Reveal', plan: revealingPlan(user) },
  });
  const model = await bootstrappedModel(api, 'vault');
  const machine = await api.call<NewMachine>('POST', `/models/${model}/machines`, { body: {} });
  const { execution, responses: ofExecution } = await finishedExecution(api, vm, user, secrets.parameter);
  responses.push(...ofExecution);
  const parts = {
    id: vm.id,
    vmId: vm.id,
    rollout,
    name: share,
    handler,
    version: '2.0.0.0',
    lang: 'de',
    // The first report can change the cause of the failure, and thereby the problem.
    key: await problemKey(),
    ...logs,
    execution,
    executionId: execution,
    model,
    ...(await relatedServices(api, model)),
    instance: machine.instanceId,
    cloudService: machine.cloudService,
    slot: 'production',
    runbook: await publishRunbook(api, `secrets-${unique}`),
  };
  const tabs = ['goal-state', 'output', 'documents'].map((tab) => `/vms/${vm.id}?tab=${tab}`);
  const places = await test.step('every response, page, table, file and log is collected', async () => ({
    answers: [...responses, ...(await everyAnswer(api, parts))],
    pages: await everyPage(page, [...pageAddresses(parts), ...tabs]),
    database: (await dumpDatabase(portal)).map(({ table, text }) => evidenceOf(table, text)),
    files: filesBelow(portal.dataDir),
    machine: filesBelow(agent.dir),
  }));

  await test.step('ordinary values are found everywhere, secret values nowhere', () => {
    for (const [place, evidence] of Object.entries(places)) {
      expect(tracesOf(user, evidence), `the user, who is no secret, in ${place}`).not.toEqual([]);
    }
    const everything = Object.values(places).flat();
    const sealed = places.database.find(({ where }) => where === 'public.secrets')?.bytes.toString() ?? '';
    expect(sealed).toContain(share);
    expect(sealed, 'the sealed form of a secret parameter is deleted at the end').not.toContain(execution);
    const hidden = { ...secrets, 'the password of a machine': machine.password };
    for (const [which, secret] of Object.entries(hidden)) expect(tracesOf(secret, everything), which).toEqual([]);
  });
});

test('settings entered by someone other than the token’s creator are withheld until an admin releases them', {
  tag: '@long',
}, async ({ api, portal, signedIn, startAgent, unique }) => {
  test.setTimeout(120_000);
  const handler = `Withheld.${unique}.Mount`;
  await api.publishSample('Northwind.Storage.Mount', '2.0.0.0', handler);
  const vm = await api.createVm(`withheld-${unique}`);
  const password = newSecret();
  const settings = {
    publicSettings: { server: 'files.example.net', user: 'backup' },
    protectedSettings: { password },
  };
  await api.call('PUT', `/vms/${vm.id}/extensions/${share}`, {
    body: { handler, version: '2.0.0.0', state: 'enabled', settings },
  });
  const { token } = await api.call<{ token: string }>('POST', '/tokens', { body: { name: 'Eve', role: 'operator' } });
  const eve = new Api(portal, token);
  const issued = await eve.call<CreatedVm>('POST', `/vms/${vm.id}/enrollment-token`);
  const agent = await startAgent(issued);
  await expect.poll(async () => (await api.instanceView(vm.id)).agent.status, patient).toBe('ready');
  expect((await api.goalState(vm.id)).extensions).toEqual([]);

  const viewer = await signedIn('viewer');
  await viewer.goto(`/vms/${vm.id}`);
  await expect(viewer.getByText(/Protected settings are withheld from the machine of/)).toBeVisible();
  await expect(viewer.getByRole('button', { name: 'Release settings' })).toHaveCount(0);

  const page = await signedIn('admin');
  await page.goto(`/vms?q=${vm.name}`);
  await expect(page.getByText('Protected settings withheld')).toBeAttached();
  await page.goto(`/vms/${vm.id}`);
  await expect(page.getByText(`${share} was not delivered`)).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: 'Release settings' }).click();
  const dialog = page.getByRole('alertdialog', { name: `Release protected settings to ${vm.name}?` });
  const certificates = readdirSync(path.join(agent.dir, 'certificates'));
  const [thumbprint = ''] = certificates.map((file) => path.parse(file).name);
  for (const shown of [share, thumbprint, 'Eve']) await expect(dialog.getByText(shown, { exact: true })).toBeVisible();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Release to this key' }).click();
  await expect(page.getByText(/^Protected settings released to/)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Release settings' })).toHaveCount(0);
  await expect
    .poll(async () => (await api.instanceView(vm.id)).extensions[0]?.status, patient)
    .toMatchObject({ sequenceNumber: 1, status: 'success' });
  const { extensions } = await api.goalState(vm.id);
  expect(openOnMachine(agent, extensions[0]?.settings.protectedSettings ?? '', thumbprint)).toEqual({ password });
});

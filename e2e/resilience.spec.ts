import type { Page } from '@playwright/test';
import { signal } from '#server/platform/processes.ts';
import { AgentProcess } from './support/agent-process.ts';
import type { Api, CreatedVm } from './support/api.ts';
import { postmaster, withDatabase } from './support/database.ts';
import type { Portal } from './support/portal.ts';
import { processOf } from './support/processes.ts';
import { ReportingMachine } from './support/reporting-machine.ts';
import { expect, test } from './support/test.ts';

const handler = 'Journey.Resilience.Probe';
const patient = { timeout: 40_000, intervals: [100, 250] };

/** What Chromium logs while a portal or its database is down. */
const away =
  /net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|SOCKET_NOT_CONNECTED)|status of 503/;

const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
const mark = (page: Page) => page.evaluate(() => Object.assign(window, { stillTheSamePage: true }));
const isMarked = (page: Page) => page.evaluate(() => 'stillTheSamePage' in window);

/** Creates a VM with the probe, which reports its heartbeat every second. */
async function vmWithProbe(api: Api, name: string): Promise<CreatedVm> {
  const vm = await api.createVm(name);
  const settings = { publicSettings: { heartbeatSeconds: 1 } };
  await api.setExtension(vm.id, 'probe', { handler, version: '1.0.0.0', settings });
  return vm;
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) }).then(
    (answer) => answer.ok,
    () => false,
  );
}

/** Returns the numbers of the machine's stored reports, in the order of their arrival. */
async function storedReports(portal: Portal, vmId: string): Promise<number[]> {
  const { rows } = await withDatabase(portal, (client) =>
    client.query<{ code: number }>(
      `select (document #>> '{file,0,status,code}')::int as code from report_history
        where vm_id = $1 and kind = 'status' order by id`,
      [vmId],
    ),
  );
  return rows.map(({ code }) => code);
}

// A VM becomes unresponsive only after some time, so the machine of the last journey stops reporting before the first
// journey begins.
let lost: { vm: CreatedVm; agent: AgentProcess };

test.describe.configure({ timeout: 120_000 });

test.beforeAll(async ({ api, portal }) => {
  await api.publishSample('Acme.Lab.Probe', '1.0.0.0', handler);
  const vm = await vmWithProbe(api, 'silent-one');
  lost = { vm, agent: await AgentProcess.start(portal, vm) };
  await expect.poll(async () => (await api.instanceView(vm.id)).health, patient).toBe('healthy');
  await lost.agent.stop('SIGKILL');
});

test.afterAll(() => lost.agent.remove());

/**
 * Rows do not move while people read them: new rows are announced and appear after a click, unless the first response
 * contained them.
 */
async function expectNewRow(page: Page, name: string): Promise<void> {
  const more = page.getByRole('button', { name: /^Show \d+ more VMs?$/ });
  await expect(row(page, name).or(more).first()).toBeVisible();
  if (await more.isVisible()) await more.click();
  await expect(row(page, name)).toContainText('Never seen');
}

test('killing database and gateway while machines report loses no acknowledged report', { tag: '@long' }, async ({
  api,
  portal,
  signedIn,
  startAgent,
  console,
  unique,
}) => {
  console.allow(away);
  const page = await signedIn('operator');
  await page.goto(`/vms?q=${unique}`);
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await mark(page);

  const real = await vmWithProbe(api, `real-${unique}`);
  const agent = await startAgent(real);
  const machines = await Promise.all(
    [portal.gatewayUrl, portal.gatewayUrl, portal.url].map(async (door, index) => {
      const vm = await vmWithProbe(api, `machine-${index}-${unique}`);
      return { vm, machine: await ReportingMachine.start(door, vm, 'probe') };
    }),
  );
  await expect(row(page, real.name)).toContainText('Healthy', patient);
  const expectAllRunning = async () => {
    const before = machines.map(({ machine }) => machine.acknowledged.length);
    await expect
      .poll(
        () => machines.every(({ machine }, index) => machine.acknowledged.length > (before[index] ?? 0) + 10),
        patient,
      )
      .toBe(true);
  };
  await expectAllRunning();

  await test.step('the database is killed repeatedly, until the page says that its data is stale', async () => {
    const { pid } = postmaster(portal);
    signal(pid, 'SIGKILL');
    await expect(async () => {
      const now = postmaster(portal).pid;
      if (now !== pid) signal(now, 'SIGKILL');
      await expect(page.getByText('This page shows the state as of')).toBeVisible({ timeout: 200 });
    }).toPass(patient);
    await expect(page.getByText('Connection lost', { exact: true })).toBeVisible();
    await expect(row(page, real.name), 'what was known stays on the page').toBeVisible();
  });

  await test.step('the database recovers automatically, and so does the page', async () => {
    await expect.poll(() => isReady(portal.url), patient).toBe(true);
    await expect.poll(() => isReady(portal.gatewayUrl), patient).toBe(true);
    await expectAllRunning();
    await expect(page.getByText('Live', { exact: true })).toBeVisible(patient);
    await api.createVm(`after-database-${unique}`);
    await expectNewRow(page, `after-database-${unique}`);
  });

  await test.step('the gateway is killed and recovers', async () => {
    const first = processOf(portal, 'gateway');
    signal(first, 'SIGKILL');
    await expect.poll(() => isReady(portal.gatewayUrl), patient).toBe(true);
    expect(processOf(portal, 'gateway')).not.toBe(first);
    await expectAllRunning();
    await api.createVm(`after-gateway-${unique}`);
    await expectNewRow(page, `after-gateway-${unique}`);
  });

  await test.step('every acknowledged report is stored once, in order', async () => {
    for (const { vm, machine } of machines) {
      await machine.stop();
      expect(machine.acknowledged.length).toBeGreaterThan(30);
      expect(await storedReports(portal, vm.id), `${vm.name}, ${machine.retries} retries`).toEqual(
        machine.acknowledged,
      );
      const [probe] = (await api.instanceView(vm.id)).extensions;
      expect(probe?.status?.message?.text).toBe(`Report ${machine.acknowledged.at(-1)}`);
    }
    expect(
      machines.some(({ machine }) => machine.retries > 0),
      'the doors were away for a while',
    ).toBe(true);
  });

  await test.step('the real agent has delivered everything, and applies the next configuration', async () => {
    await api.setExtension(real.id, 'probe', {
      handler,
      version: '1.0.0.0',
      settings: { publicSettings: { heartbeatSeconds: 1, target: 'after.example.net' } },
    });
    await expect
      .poll(async () => (await api.instanceView(real.id)).extensions[0]?.status?.message?.text, patient)
      .toBe('Watching after.example.net. Times enabled: 2.');
    await expect.poll(() => agent.waitingReports(), patient).toBe(0);
    await expect(row(page, real.name)).toContainText('Healthy');
  });
  expect(await isMarked(page), 'the page was never loaded anew').toBe(true);
});

test('agents, pages and sessions survive a restart of the portal', { tag: '@long' }, async ({
  api,
  portal,
  signedIn,
  startAgent,
  console,
  unique,
}) => {
  console.allow(away);
  const page = await signedIn('operator');
  const vm = await vmWithProbe(api, `restart-${unique}`);
  const agent = await startAgent(vm);
  await page.goto(`/vms?q=${vm.name}`);
  await expect(row(page, vm.name)).toContainText('Healthy', patient);
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await mark(page);

  expect(await portal.stop(), 'SIGTERM ends it in order').toBe(0);
  await expect(page.getByText('Connection lost', { exact: true })).toBeVisible();
  await expect(page.getByText('This page shows the state as of')).toBeVisible();
  await expect(row(page, vm.name)).toBeVisible();
  expect(agent.isRunning()).toBe(true);
  await expect
    .poll(() => agent.waitingReports(), { ...patient, message: 'reports wait on the machine' })
    .toBeGreaterThan(0);

  await portal.restart();
  await expect(page.getByText('Live', { exact: true })).toBeVisible(patient);
  await expect.poll(() => agent.waitingReports(), patient).toBe(0);
  await expect(row(page, vm.name)).toContainText('Healthy');
  await api.createVm(`after-restart-${unique}`);
  await page.getByRole('searchbox').fill(`restart-${unique}`);
  await expectNewRow(page, `after-restart-${unique}`);
  expect(await isMarked(page), 'the page was never loaded anew').toBe(true);

  await page.reload();
  await expect(page).toHaveURL(/\/vms/);
  await expect(row(page, vm.name)).toContainText('Healthy');
});

test('two people see a killed agent’s machine degrade and recover, each in their language', { tag: '@long' }, async ({
  api,
  signedIn,
}) => {
  const { vm, agent } = lost;
  const english = await signedIn('operator');
  const german = await signedIn('viewer', { locale: 'de-AT' });
  for (const page of [english, german]) {
    await page.goto(`/vms?q=${vm.name}`);
    await mark(page);
  }

  await expect(row(english, vm.name)).toContainText('Degraded', { timeout: 60_000 });
  await expect(row(german, vm.name)).toContainText('Eingeschränkt', { timeout: 60_000 });
  const { extensions } = await api.instanceView(vm.id);
  expect(extensions).toMatchObject([{ heartbeat: { verdict: 'unknown' }, status: { status: 'success' } }]);

  agent.resume();
  await expect(row(english, vm.name)).toContainText('Healthy', patient);
  await expect(row(german, vm.name)).toContainText('In Ordnung', patient);
  expect(await api.instanceView(vm.id)).toMatchObject({
    agent: { status: 'ready' },
    extensions: [{ heartbeat: { verdict: 'ready' } }],
  });
  for (const page of [english, german]) expect(await isMarked(page), 'no page was loaded anew').toBe(true);
});

test('the page shows that a gateway does not respond, until it responds again', { tag: '@long' }, async ({
  portal,
  signedIn,
}) => {
  const page = await signedIn('viewer');
  await page.goto('/vms');
  const banner = page.getByRole('alert').filter({ hasText: 'The agent gateway is not responding.' });
  const gateway = processOf(portal, 'gateway');
  signal(gateway, 'SIGSTOP');
  try {
    await expect(banner).toBeVisible(patient);
  } finally {
    signal(gateway, 'SIGCONT');
  }
  await expect(banner).toBeHidden(patient);
});

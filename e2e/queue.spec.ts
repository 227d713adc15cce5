import { newKeyPair } from '#server/testing/key-pair.ts';
import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import type { CreatedVm } from './support/api.ts';
import { enrollPlanMachine, helloPlan } from './support/plan-machine.ts';
import { publishSamples, sampleGoal } from './support/samples.ts';
import { expect, test } from './support/test.ts';

const handlers = [
  'Acme.Lab.Probe',
  'Northwind.Storage.Mount',
  'Helix.Security.Baseline',
  'Northwind.Backup.Snapshot',
  'Orbit.Metrics.NodeMetrics',
];

test.beforeAll(({ api }) => publishSamples(api, handlers));

/** Enrolls as an agent whose commands never end. Returns a function that sends a report. */
async function enroll(url: string, vm: CreatedVm) {
  const agent = { name: 'slow-machine', version: '1.0' };
  const { certificate } = newKeyPair();
  const body = JSON.stringify({ enrollmentToken: vm.enrollmentToken, certificate, agent });
  const answer = await fetch(`${url}/agent/v1/enroll`, { method: 'POST', body });
  const { credential } = (await answer.json()) as { credential: string };
  const headers = { authorization: `Bearer ${credential}` };
  const goal = await (await fetch(`${url}/agent/v1/goal-state`, { headers })).json();
  let reportNumber = 0;
  return async (entries: Record<string, unknown>[]) => {
    reportNumber += 1;
    const { turn, extensions: declared } = goal as { turn: number; extensions: { name: string; version: string }[] };
    const handlers = entries.map(({ versions, extensions, ...entry }) => ({
      ...entry,
      sequenceNumber: 1,
      work: {
        turn,
        round: 1,
        commandVersion: declared.find(({ name }) => name === entry.extension)?.version,
        versions,
        extensions,
      },
    }));
    const report = JSON.stringify({ run: 'only', reportNumber, handlers });
    const response = await fetch(`${url}/agent/v1/reports`, { method: 'POST', headers, body: report });
    expect(response.status).toBe(204);
  };
}

test('the page says what a machine does now and next, and why something waits', { tag: '@long' }, async ({
  portal,
  api,
  signedIn,
  unique,
  console: watch,
}) => {
  const vm = await api.createVm(`queue-${unique}`);
  await api.setExtension(vm.id, 'mount', sampleGoal('Northwind.Storage.Mount'));
  await api.setExtension(vm.id, 'probe', { ...sampleGoal('Acme.Lab.Probe'), dependsOn: ['mount'] });
  const report = await enroll(portal.gatewayUrl, vm);
  const page = await signedIn('operator');
  const viewer = await signedIn('viewer', { locale: 'de-DE', viewport: { width: 390, height: 844 } });
  for (const each of [page, viewer]) await each.goto(`/vms/${vm.id}`);
  await report([
    { extension: 'probe', state: 'waiting', blockedBy: 'mount', versions: {}, extensions: {} },
    { extension: 'mount', state: 'installing', command: 'install', attempt: 1, versions: {}, extensions: {} },
  ]);

  const card = page.getByRole('region', { name: 'Next on this machine' });
  await expect(card).toContainText('install 2.0.0');
  await expect(card).toContainText('Waiting for mount');
  await expectAccessibleInBothThemes(page);
  await expect(viewer.getByRole('region', { name: 'Als Nächstes auf dieser Maschine' })).toContainText(
    'Wartet auf mount',
  );
  await expectAccessible(viewer);

  const why = page.getByRole('region', { name: 'Why the VM isn’t done' });
  await why.getByRole('link', { name: 'Show in the queue' }).focus();
  await page.keyboard.press('Enter');
  const waitingRow = page.getByRole('row', { name: /probe install .* Waiting for mount/ });
  await expect(waitingRow).toBeFocused();
  await expect(waitingRow).toHaveAttribute('aria-current', 'true');
  await expect(page).toHaveURL(/tab=queue#queue-probe$/);
  await expectAccessibleInBothThemes(page);
  await page.goBack();

  await card.getByRole('link', { name: 'Show the queue' }).click();
  const table = page.getByRole('table');
  await expect(table.getByRole('rowgroup').filter({ hasText: /^Now/ })).toContainText('mountinstall 2.0.0');
  await expect(table.getByRole('row', { name: /probe install .* Waiting for mount/ })).toBeVisible();
  await expectAccessibleInBothThemes(page);

  // Checks the page in each state: while loading, after a failure, after a retry with a link to an entry that has left
  // the queue, and with an empty queue.
  const isQueue = /instanceViews\.queue/;
  const held = Promise.withResolvers<void>();
  await viewer.route(isQueue, async (route) => {
    await held.promise;
    await route.fulfill({ status: 500, body: 'no' });
  });
  watch.allow(/status of 500/);
  await viewer.goto(`/vms/${vm.id}`);
  await viewer.goto(`/vms/${vm.id}?tab=queue#queue-former`);
  await expect(viewer.getByRole('status', { name: 'Warteschlange wird geladen' })).toBeVisible();
  await expectAccessible(viewer);
  held.resolve();
  await expect(viewer.getByRole('heading', { name: 'Die Warteschlange konnte nicht geladen werden' })).toBeVisible();
  await expectAccessible(viewer);
  await viewer.unroute(isQueue);
  await viewer.getByRole('button', { name: 'Erneut versuchen' }).click();
  await expect(viewer.getByRole('table')).toContainText('Wartet auf mount');
  await expect(viewer.getByText('former steht nicht mehr in der Warteschlange.')).toBeVisible();
  await expectAccessible(viewer);
  const idle = await api.createVm(`idle-${unique}`);
  await viewer.goto(`/vms/${idle.id}?tab=queue`);
  await expect(viewer.getByRole('heading', { name: 'Nichts zu tun' })).toBeVisible();
  await expectAccessible(viewer);
});

test('after following a link to an entry of a long queue, no button is half hidden under the top bar of a phone', {
  tag: '@long',
}, async ({ api, signedIn, unique }) => {
  const vm = await api.createVm(`long-${unique}`);
  const queued = handlers.filter((handler) => handler !== 'Northwind.Storage.Mount');
  for (const handler of queued) await api.setExtension(vm.id, handler, sampleGoal(handler));
  const page = await signedIn('operator');
  for (const height of [568, 640, 700, 760]) {
    await page.setViewportSize({ width: 390, height });
    for (const handler of queued) {
      await page.goto(`/vms/${vm.id}`);
      await page.goto(`/vms/${vm.id}?tab=queue#queue-${handler}`);
      const row = page.getByRole('row', { name: new RegExp(handler) });
      await expect(row).toBeFocused();
      await expect(row).toBeInViewport({ ratio: 1 });
      await expectAccessible(page);
    }
  }
});

test('the page says which execution an extension waits for, and an operator cancels it and those that wait', {
  tag: '@long',
}, async ({ portal, api, signedIn, unique }) => {
  const vm = await api.createVm(`busy-${unique}`);
  const machine = await enrollPlanMachine(portal.gatewayUrl, vm);
  const queue = (plan: object) => api.call('POST', `/vms/${vm.id}/executions`, { body: { plan } });
  await queue(helloPlan);
  const id = await machine.take();
  await machine.run(id, [{ n: 1, script: 'hello', function: 'apply', state: 'running', row: 2, atMs: 12 }]);
  await api.setExtension(vm.id, 'mount', sampleGoal('Northwind.Storage.Mount'));
  // The gateway learns of a new goal state shortly after the request has been answered.
  await expect.poll(async () => (await (await machine.poll()).json()).extensions.length).toBe(1);
  const page = await signedIn('operator');
  const viewer = await signedIn('viewer', { locale: 'de-DE', viewport: { width: 390, height: 844 } });
  for (const each of [page, viewer]) await each.goto(`/vms/${vm.id}`);

  const card = page.getByRole('region', { name: 'Next on this machine' });
  await expect(card).toContainText('Rotate certificates');
  await expect(card).toContainText('call 1, hello.apply');
  await queue({ ...helloPlan, Name: 'Clean up' });
  await expect(card.getByRole('link', { name: 'Clean up' })).toBeVisible();
  const why = page.getByRole('region', { name: 'Why the VM isn’t done' });
  await expect(why).toContainText('mount is waiting for its turn: Rotate certificates is running.');
  await expectAccessibleInBothThemes(page);
  await expect(viewer.getByRole('region', { name: 'Warum ist die VM nicht fertig?' })).toContainText(
    'mount ist noch nicht an der Reihe: Rotate certificates läuft.',
  );
  await expectAccessible(viewer);

  await card.getByRole('button', { name: 'Cancel waiting executions (1)' }).click();
  await page.getByRole('button', { name: 'Cancel 1 execution' }).click();
  await expect(card.getByRole('link', { name: 'Clean up' })).toBeHidden();
  await why.getByRole('button', { name: 'Cancel the execution' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel execution' }).click();
  await expect(why.getByRole('button', { name: 'Cancel the execution' })).toBeHidden();
  await why.getByRole('link', { name: 'Show the execution' }).click();
  await expect(page).toHaveURL(new RegExp(`/executions/${id}$`));
});

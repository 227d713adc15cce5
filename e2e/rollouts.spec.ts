import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import { mount } from './support/failing-vm.ts';
import {
  disabledFleet,
  expectPlanned,
  expectShare,
  expectState,
  fleetAddress,
  patience,
  type RolloutState,
  rolloutNamed,
} from './support/rollout.ts';
import { publishSamples, sampleGoal } from './support/samples.ts';
import { expect, test } from './support/test.ts';

test.beforeAll(({ api }) => publishSamples(api, [mount]));

test('an operator selects VMs with the filter of the VM list, and sees in the plan what would happen before it can start', async ({
  signedIn,
  api,
  console,
  unique,
}) => {
  console.allow(/422/);
  const fleet = `plan-${unique}`;
  for (let number = 1; number <= 4; number += 1) {
    const vm = await api.createVm(`${fleet}-${number}`, { fleet });
    await api.setExtension(vm.id, 'share', sampleGoal(mount));
  }
  const page = await signedIn('operator');
  await page.goto('/rollouts/new');
  await expect(page.getByRole('button', { name: 'Choose VMs first' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Start', exact: true })).toHaveAttribute('aria-disabled', 'true');
  await expectAccessibleInBothThemes(page);

  await page.goto(fleetAddress(fleet).replace('/vms', '/rollouts/new'));
  await expect(page.getByRole('region', { name: 'Who' })).toContainText('4 VMs');
  await expect(page.getByRole('button', { name: 'Choose what to change' })).toBeVisible();
  await page.getByLabel('Name', { exact: true }).fill(`Disable ${fleet}`);
  await page.getByLabel('State').selectOption('disabled');
  await page.getByLabel('Limit of ring first').fill('25');
  await page.getByLabel('Limit of ring tenth').fill('20');
  // The share must rise, so the portal rejects the ring, and the page says so at the ring.
  await expect(page.getByRole('group', { name: 'tenth' }).getByText('Each ring must reach further')).toBeVisible(
    patience,
  );
  await expect(page.getByRole('button', { name: 'Each ring must reach further' })).toBeVisible();
  await page.getByRole('button', { name: 'Remove ring tenth' }).click();
  await expectPlanned(page);

  const plan = page.getByRole('region', { name: 'Plan', exact: true });
  await expect(plan.getByRole('row', { name: /^first 1 1 / })).toBeVisible();
  await expect(plan.getByRole('row', { name: /^Total 4 4 / })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Start on 4 VMs' })).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await plan.getByRole('button', { name: '4' }).last().click();
  await expect(page.getByRole('dialog', { name: 'VMs of the plan' })).toContainText(`${fleet}-4`);
  await page.keyboard.press('Escape');

  await expect(page).toHaveURL(/\/rollouts\/[-0-9a-f]+\/edit$/);
  await page.reload();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue(`Disable ${fleet}`);
  await expectPlanned(page);
  await page.getByRole('button', { name: 'Delete draft' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete draft' }).click();
  await expect(page).toHaveURL(/\/rollouts$/);
});

test('a viewer cannot make a rollout, and has no acts on VMs', async ({ signedIn }) => {
  const page = await signedIn('viewer', { locale: 'de-DE', viewport: { width: 390, height: 844 } });
  await page.goto('/rollouts/new');
  await expect(page.getByRole('link', { name: 'Rollouts' }).last()).toBeVisible();
  await expect(page.getByRole('button', { name: 'Starten' })).toHaveCount(0);
  await expectAccessible(page);
  await page.goto('/vms');
  await expect(page.getByRole('button', { name: /Alle .* auswählen/ })).toHaveCount(0);
});

test('a rollout halts when a VM fails, and its revert puts every VM back', async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const fleet = `halt-${unique}`;
  const vms = await disabledFleet(api, startAgent, { fleet, size: 3 });
  const page = await signedIn('operator');
  await page.goto(fleetAddress(fleet).replace('/vms', '/rollouts/new'));
  await page.getByLabel('Name', { exact: true }).fill(`Enable ${fleet}`);
  await page.getByLabel('State').selectOption('enabled');
  await page.getByRole('radio', { name: 'One ring' }).check();
  await page.getByRole('button', { name: 'Add ring' }).click();
  await page.getByRole('checkbox', { name: 'Success' }).check();
  await expectPlanned(page);
  await page.getByRole('button', { name: 'Start on 3 VMs' }).click();
  await expect(page).toHaveURL(/\/rollouts\/[-0-9a-f]+$/, patience);

  const { id } = await rolloutNamed(api, `Enable ${fleet}`);
  const paused = await expectState(api, id, 'paused');
  expect(paused.why.map(({ code }) => code)).toContain('success_unreachable');
  expect(paused.counts.failed).toBe(1);

  const revert = await api.call<RolloutState>('POST', `/rollouts/${id}/revert`, { body: { start: true } });
  await expectState(api, revert.id, 'finished');
  for (const vm of vms) await expectShare(api, vm.id, 'disabled');
});

test('an act on all VMs that match a filter shows its plan, and changes exactly these VMs', async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const fleet = `bulk-${unique}`;
  const [first, , last] = await disabledFleet(api, startAgent, { fleet, size: 3 });
  if (first === undefined || last === undefined) throw new Error('the fleet has three VMs');
  const other = await api.createVm(`other-${unique}`, { fleet: 'other' });
  const { incarnation } = await api.setExtension(other.id, 'share', { ...sampleGoal(mount), state: 'disabled' });
  await api.setExtension(last.id, 'share', { ...sampleGoal(mount), state: 'enabled' });

  const page = await signedIn('operator');
  await page.goto(fleetAddress(fleet));
  await page.getByRole('button', { name: 'Select all 3 VMs' }).click();
  const bar = page.getByRole('region', { name: 'Selected VMs' });
  await expect(bar.getByText('3 VMs selected')).toBeVisible();
  await bar.getByRole('button', { name: 'Enable', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Enable Mount?' });
  await expect(dialog.getByRole('listitem').filter({ hasText: 'VMs change.' })).toContainText('2', patience);
  await expect(dialog.getByRole('listitem').filter({ hasText: 'already matches' })).toContainText('1');
  await expectAccessibleInBothThemes(page);
  await dialog.getByRole('button', { name: 'Enable Mount on 2 VMs' }).click();
  await expect(page).toHaveURL(/\/rollouts\/[-0-9a-f]+$/, patience);
  await expectShare(api, first.id, 'healthy');
  expect((await api.goalState(other.id)).incarnation).toBe(incarnation);
});

test('closing the dialog of an act leaves no draft behind', async ({ signedIn, api, unique }) => {
  const fleet = `close-${unique}`;
  const vm = await api.createVm(`${fleet}-1`, { fleet });
  await api.setExtension(vm.id, 'share', sampleGoal(mount));
  const page = await signedIn('operator');
  await page.goto(fleetAddress(fleet));
  await page.getByRole('button', { name: 'Select 1 VM' }).click();
  await page.getByRole('region', { name: 'Selected VMs' }).getByRole('button', { name: 'Remove' }).click();
  const dialog = page.getByRole('dialog', { name: 'Remove Mount?' });
  await expect(dialog.getByRole('button', { name: 'Remove Mount on 1 VM' })).toBeVisible(patience);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog).toHaveCount(0);
  const drafts = async () =>
    (await api.call<{ items: RolloutState[] }>('GET', '/rollouts?kind=bulk&state=draft,planning,planned')).items.length;
  await expect.poll(drafts).toBe(0);
});

import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import { mount } from './support/failing-vm.ts';
import { pressOn, tabTo } from './support/keyboard.ts';
import {
  disabledFleet,
  draftRollout,
  expectPlanned,
  expectShare,
  expectState,
  fleetAddress,
  healthyFleet,
  patience,
  type RolloutState,
  rolloutNamed,
  setApproval,
  shareOf,
} from './support/rollout.ts';
import { publishSamples, sampleGoal } from './support/samples.ts';
import { expect, test } from './support/test.ts';

test.beforeAll(({ api }) => publishSamples(api, [mount]));

test('an operator selects VMs with the filter of the VM list, and sees in the plan what would happen before it can start', {
  tag: '@long',
}, async ({ signedIn, api, console, unique }) => {
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
  await page.getByLabel('State', { exact: true }).selectOption('disabled');
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

  await page.getByRole('button', { name: 'Save as strategy' }).click();
  const saving = page.getByRole('dialog', { name: 'Save as strategy' });
  await saving.getByRole('textbox', { name: 'Name of the strategy' }).fill(`two-${unique}`);
  await saving.getByRole('button', { name: 'Save strategy' }).click();
  await expect(page.getByRole('radio', { name: `two-${unique}` })).toBeChecked();

  await expect(page).toHaveURL(/\/rollouts\/[-0-9a-f]+\/edit$/);
  await page.reload();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue(`Disable ${fleet}`);
  await expectPlanned(page);
  await page.getByRole('button', { name: 'Delete draft' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete draft' }).click();
  await expect(page).toHaveURL(/\/rollouts$/);
  await api.call('DELETE', `/rollout-strategies/two-${unique}`);
});

test('the form of a draft that was edited just after it was read offers the newer draft', { tag: '@long' }, async ({
  signedIn,
  api,
  console,
}) => {
  console.allow(/412/);
  const { id, revision, name } = await draftRollout(api, mount);
  const page = await signedIn('operator');
  const edited = Promise.withResolvers<void>();
  await page.route('**/api/trpc/rollouts.get**', async (route) => {
    await edited.promise;
    await route.continue();
  });
  await page.goto(`/rollouts/${id}/edit`);
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue(name);
  await api.call('PUT', `/rollouts/${id}`, {
    headers: { 'if-match': `"${revision}"` },
    body: { name: 'Edited elsewhere', select: { all: true }, change: { kind: 'retry', handler: mount } },
  });
  edited.resolve();
  await page.getByRole('button', { name: 'Reload' }).click(patience);
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Edited elsewhere');
  await api.call('DELETE', `/rollouts/${id}`);
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

test('by keyboard alone, a bad change halts at its first VM, and its revert makes the VM healthy again', async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  test.setTimeout(240_000);
  const fleet = `halt-${unique}`;
  const vms = await healthyFleet(api, startAgent, { fleet, size: 3 });
  const page = await signedIn('operator');
  await page.goto('/');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();

  await test.step('filter, change and rings', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await expect(page).toHaveURL(/\/rollouts$/);
    await pressOn(page, page.getByRole('link', { name: 'New rollout' }).first());
    await expect(page).toHaveURL(/\/rollouts\/new$/);
    await tabTo(page, page.getByLabel('Name', { exact: true }));
    await page.keyboard.type(`Move ${fleet}`);
    const who = page.getByRole('region', { name: 'Who' });
    await tabTo(page, who.getByRole('searchbox'));
    await page.keyboard.type(fleet);
    await expect(who.getByRole('status').filter({ hasText: '3 VMs' })).toBeVisible();
    await tabTo(page, page.getByLabel('Handler', { exact: true }));
    await page.keyboard.type(mount);
    await pressOn(page, page.getByRole('button', { name: 'Set reachable' }));
    const answers = page.getByRole('switch', { name: /^Server answers/ });
    await expect(answers).toBeVisible();
    await expect(page.getByRole('button', { name: 'Reset reachable' })).toBeFocused();
    await page.keyboard.press('Shift+Tab');
    await pressOn(page, answers, 'Space');
    await tabTo(page, page.getByLabel('Limit of ring first'));
    await page.keyboard.press('Control+a');
    await page.keyboard.type('5');
    await pressOn(page, page.getByRole('button', { name: 'Remove ring tenth' }));
  });

  await test.step('plan and start', async () => {
    await expectPlanned(page);
    await expect(
      page.getByRole('region', { name: 'Plan', exact: true }).getByRole('row', { name: /^first 1 1 / }),
    ).toBeVisible();
    await pressOn(page, page.getByRole('button', { name: 'Start on 3 VMs' }));
    await expect(page).toHaveURL(/\/rollouts\/[-0-9a-f]+$/, patience);
  });

  const { id } = await rolloutNamed(api, `Move ${fleet}`);
  const why = page.getByRole('region', { name: 'Why is it paused?' });
  await test.step('the page says why the rollout is paused', async () => {
    await expect(why).toContainText('Ring first cannot reach 95% success: 1 of 1 VMs failed.', patience);
    await expect(page.getByRole('list', { name: 'Gates of ring first' })).toContainText(
      '1 of 1 failed, so 95% cannot be reached.',
    );
    const healths = await Promise.all(vms.map((vm) => shareOf(api, vm.id)));
    expect(healths.sort(), 'one VM failed, and the others were not changed').toEqual(['failed', 'healthy', 'healthy']);
    await expectAccessibleInBothThemes(page);
  });

  await test.step('the overview, the fleet map, the VMs and the editor name it', async () => {
    const other = await signedIn('operator');
    await other.goto('/');
    await other.getByRole('link', { name: /^Rollouts that need you/ }).click();
    await expect(other).toHaveURL(/\/rollouts\?needing=yes$/);
    await expect(other.getByRole('link', { name: `Move ${fleet}` })).toBeVisible();
    const healths = await Promise.all(vms.map((vm) => shareOf(api, vm.id)));
    const [failed, queued] = ['failed', 'healthy'].map((health) => vms[healths.indexOf(health)]?.id);
    await other.goto(`/vms/${failed}`);
    await expect(other.getByText(`Part of Move ${fleet}, ring first`)).toBeVisible();
    await other.goto(`/vms/${queued}`);
    const line = other.getByRole('region', { name: 'Rollouts of this VM' });
    await expect(line).toContainText(/ring (half|all), place \d+ of \d+\. Queued.*The rollout is paused\./);
    await expectAccessibleInBothThemes(other);
    await other.goto(`/vms/${queued}/extensions/share`);
    await expect(other.getByText('Your change takes this VM out of it.')).toBeVisible();
    await other.goto(`/?rollout=${id}`);
    await expect(other.getByRole('combobox', { name: 'Color by' })).toHaveValue(id);
    await expect(other.getByRole('application').getByText('Queued').first()).toBeVisible();
    await expectAccessibleInBothThemes(other);
    await other.close();
  });

  await test.step('it resumes only if a person overrules the verdict by name and says why', async () => {
    await api.call('POST', `/rollouts/${id}/resume`, { body: { reason: 'Known.' }, status: 409 });
    await pressOn(page, why.getByRole('button', { name: 'Resume despite this' }));
    const dialog = page.getByRole('alertdialog');
    await expect(dialog).toContainText('Success in ring first');
    await pressOn(page, dialog.getByRole('button', { name: 'Resume despite this' }));
    await expect(dialog).toContainText('Enter a reason.');
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
  });

  await test.step('the revert of the ring', async () => {
    await pressOn(page, why.getByRole('button', { name: 'Revert ring first' }));
    await pressOn(page, page.getByRole('alertdialog').getByRole('button', { name: 'Revert ring first' }));
    await expect(page).not.toHaveURL(`/rollouts/${id}`);
    await pressOn(page, page.getByRole('button', { name: 'Start on 1 VM' }));
    await pressOn(page, page.getByRole('alertdialog').getByRole('button', { name: 'Start on 1 VM' }));
    await expect(page.getByRole('region', { name: 'How did it end?' })).toContainText('1 of 1 VM succeeded.', patience);
    for (const vm of vms) await expectShare(api, vm.id, 'healthy');
    await expectState(api, id, 'aborted');
  });
});

test('a rollout that needs an approval is planned again after a rejection, and starts after another person has approved its plan', async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  test.setTimeout(240_000);
  const fleet = `approve-${unique}`;
  const [vm] = await disabledFleet(api, startAgent, { fleet, size: 1, failing: 0 });
  if (vm === undefined) throw new Error('the fleet has a VM');
  await setApproval(api, { fromMembers: 1, people: 1, role: 'operator' });
  const author = await signedIn('operator');
  await author.goto(fleetAddress(fleet).replace('/vms', '/rollouts/new'));
  await author.getByLabel('Name', { exact: true }).fill(`Enable ${fleet}`);
  await author.getByLabel('State', { exact: true }).selectOption('enabled');
  await author.getByRole('radio', { name: 'One ring' }).check();
  await expectPlanned(author);
  await author.getByRole('link', { name: 'Ask for approval' }).click();
  await expect(author).toHaveURL(/\/rollouts\/[-0-9a-f]+$/);
  const sentence = 'Needs an approval before it can start.';
  await expect(author.getByText(sentence)).toBeVisible();
  await expect(author.getByRole('button', { name: 'Approve' })).toHaveCount(0);
  await expect(author.getByRole('button', { name: /^Start/ })).toHaveCount(0);

  const other = await signedIn('admin');
  await other.goto('/rollouts');
  const needs = other.getByRole('region', { name: 'Needs you' });
  await needs.getByRole('link', { name: `Enable ${fleet}` }).click();
  await other.getByRole('button', { name: 'Reject' }).click();
  const rejection = other.getByRole('alertdialog', { name: `Reject Enable ${fleet}?` });
  await rejection.getByRole('button', { name: 'Reject' }).click();
  await expect(rejection).toContainText('Enter a reason.');
  await rejection.getByRole('textbox', { name: 'Reason' }).fill('Not today.');
  await rejection.getByRole('button', { name: 'Reject' }).click();
  await expect(other.getByText('rejected the plan, so it must be planned again: Not today.')).toBeVisible();
  await author.getByRole('button', { name: 'Plan again' }).click();
  await expect(author.getByText(sentence)).toBeVisible(patience);

  await other.getByRole('button', { name: 'Approve' }).click();
  const dialog = other.getByRole('alertdialog', { name: `Approve Enable ${fleet}?` });
  await expectAccessibleInBothThemes(other);
  await dialog.getByRole('textbox', { name: 'Note' }).fill('Agreed.');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await expect(other.getByText(sentence)).toHaveCount(0);

  // The author's page follows without a reload.
  await author.getByRole('button', { name: 'Start on 1 VM' }).click();
  await author.getByRole('alertdialog').getByRole('button', { name: 'Start on 1 VM' }).click();
  await expectShare(api, vm.id, 'healthy');
  await setApproval(api, null);
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
  await expect(dialog.getByRole('button', { name: 'Remove Mount from 1 VM' })).toBeVisible(patience);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog).toHaveCount(0);
  const drafts = async () =>
    (await api.call<{ items: RolloutState[] }>('GET', '/rollouts?kind=bulk&state=draft,planning,planned')).items.length;
  await expect.poll(drafts).toBe(0);
});

test('the list, the form and the page of a rollout work on a phone in German, and an unknown rollout is not found', {
  tag: '@long',
}, async ({ signedIn, api, console, unique }) => {
  console.allow(/status of 404/);
  const vm = await api.createVm(`small-${unique}`, { fleet: `small-${unique}` });
  await api.setExtension(vm.id, 'share', sampleGoal(mount));
  const { id, name } = await draftRollout(api, mount);
  const page = await signedIn('operator', { locale: 'de-DE', viewport: { width: 390, height: 844 } });
  for (const [address, text] of [
    ['/rollouts', name],
    [`/rollouts/${id}`, 'Entwurf'],
    [`/rollouts/${id}/edit`, 'Rollout bearbeiten'],
    ['/rollouts/new', 'Neuer Rollout'],
  ] as const) {
    await page.goto(address);
    await expect(page.getByRole('main').getByText(text, { exact: true }).first()).toBeVisible();
    await expect(page.locator('[aria-busy="true"]')).toHaveCount(0, patience);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width, `${address} is as wide as the window`).toBeLessThanOrEqual(390);
    await expectAccessibleInBothThemes(page);
  }
  const answer = await page.goto('/rollouts/018f0000-0000-7000-8000-000000000000');
  expect(answer?.status()).toBe(404);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await api.call('DELETE', `/rollouts/${id}`);
});

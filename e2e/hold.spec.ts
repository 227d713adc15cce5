import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import type { Api } from './support/api.ts';
import { publishSamples, sampleGoal } from './support/samples.ts';
import { expect, test } from './support/test.ts';

const probe = 'Acme.Lab.Probe';

test.beforeAll(({ api }) => publishSamples(api, [probe]));

const sequenceOf = async (api: Api, vmId: string) => {
  const { extensions } = await api.instanceView(vmId);
  return extensions.find(({ name }) => name === 'watch')?.status?.sequenceNumber;
};

test('a VM on hold gets no changes: other people see who set the hold and why, and its release delivers the changes', {
  tag: '@long',
}, async ({ signedIn, api, startAgent, unique }) => {
  const vm = await api.createVm(`hold-${unique}`);
  await api.setExtension(vm.id, 'watch', sampleGoal(probe, { target: 'first.example.net' }));
  await startAgent(vm);
  await expect.poll(() => sequenceOf(api, vm.id), { timeout: 30_000 }).toBe(1);
  const page = await signedIn('operator');
  const viewer = await signedIn('viewer', { locale: 'de-DE', viewport: { width: 390, height: 844 } });
  for (const each of [page, viewer]) await each.goto(`/vms/${vm.id}`);

  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Put on hold' }).click();
  const dialog = page.getByRole('dialog', { name: `Put ${vm.name} on hold` });
  await dialog.getByRole('button', { name: 'Put on hold' }).click();
  await expect(dialog.getByText('Enter a reason.')).toBeVisible();
  await dialog.getByLabel('Reason').fill('Patch window of the database');
  await dialog.getByLabel('Ends').selectOption('In 4 hours');
  await expectAccessibleInBothThemes(page);
  await dialog.getByRole('button', { name: 'Put on hold' }).click();

  const banner = page.getByRole('status').filter({ hasText: 'On hold: Patch window of the database' });
  await expect(banner).toBeVisible();
  const german = viewer.getByRole('status').filter({ hasText: 'Änderungssperre: Patch window of the database' });
  await expect(german).toBeVisible();
  await expect(german.getByRole('button')).toHaveCount(0);

  await api.setExtension(vm.id, 'watch', sampleGoal(probe, { target: 'second.example.net' }));
  const why = page.getByRole('region', { name: 'Why the VM isn’t done' });
  await expect(why).toContainText('the VM is on hold, and the agent will get this change when the hold ends');
  await expect(why).toContainText('Patch window of the database');
  await expectAccessibleInBothThemes(page);
  await expectAccessible(viewer);
  expect(await sequenceOf(api, vm.id)).toBe(1);
  await why.getByRole('link', { name: 'Show in the queue' }).click();
  await expect(page.getByRole('row', { name: /watch .* Waiting until the hold ends/ })).toBeFocused();
  await expectAccessibleInBothThemes(page);

  await page.goto(`/vms/${vm.id}/extensions/watch`);
  await page.getByRole('textbox', { name: 'Target' }).fill('third.example.net');
  await expect(page.getByRole('region', { name: 'Commands that the agent will run' })).toContainText(
    /This change waits.* until the hold ends .*Reason: Patch window of the database/,
  );
  await expect(page.getByText('is on hold, so this change waits until the hold ends.')).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await page.getByRole('link', { name: 'Discard' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Leave' }).click();

  await api.call('PUT', `/vms/${vm.id}/hold`, { body: { reason: 'Storage move' } });
  await expect(page.getByRole('status').filter({ hasText: 'On hold: Storage move' })).toBeVisible();

  await viewer.goto('/vms?held=yes');
  await expect(viewer.getByText(vm.name)).toBeVisible();
  await expectAccessible(viewer);

  await why.getByRole('button', { name: 'Release hold' }).click();
  const release = page.getByRole('alertdialog', { name: `Release the hold on ${vm.name}?` });
  await release.getByRole('button', { name: 'Release hold' }).click();
  await expect(page.getByRole('article', { name: 'watch' })).toContainText('Watching second.example.net.');
  await expect(page.getByRole('status').filter({ hasText: 'On hold' })).toHaveCount(0);
  await page.goto(`/vms/${vm.id}?tab=activity`);
  await expect(page.getByText(`put ${vm.name} on hold: Patch window of the database`)).toBeVisible();
  await expect(page.getByText(`changed the hold on ${vm.name}: Storage move`)).toBeVisible();
  await expect(page.getByText(`released the hold on ${vm.name}`)).toBeVisible();
});

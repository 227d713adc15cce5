import type { Page } from '@playwright/test';
import { AgentProcess } from '../support/agent-process.ts';
import type { CreatedVm } from '../support/api.ts';
import { expectListedAsFailed, failingVm, mount, settled } from '../support/failing-vm.ts';
import { expectFocusKept, pressOn, tabTo } from '../support/keyboard.ts';
import { publishSamples, sampleGoal } from '../support/samples.ts';
import { expect, test } from '../support/test.ts';
import { publishWithMessages } from '../support/versions.ts';

test.beforeAll(({ api }) => publishSamples(api, [mount]));

const why = (page: Page) => page.getByRole('region', { name: 'Why the VM isn’t done' });

/** Opens a VM from the overview: follows the link with the number of failed VMs, and then opens the VM's row. */
async function openFailedVm(page: Page, vm: CreatedVm): Promise<void> {
  await page.goto('/');
  await pressOn(page, page.getByRole('link', { name: /Failed/ }).first());
  await expect(page).toHaveURL(/health=failed/);
  await pressOn(page, page.getByRole('table').getByRole('link', { name: vm.name, exact: true }));
  await expect(page).toHaveURL(`/vms/${vm.id}`);
}

test('a failing VM is found, understood, retried, fixed and reverted', async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const { vm } = await failingVm(api, startAgent, `keys-${unique}`);
  await expectListedAsFailed(api, vm);
  const page = await signedIn('operator');

  await test.step('find, and whole output', async () => {
    await openFailedVm(page, vm);
    await expect(why(page)).toContainText('share failed: enable ended with exit code 51.');
    await pressOn(page, why(page).getByRole('link', { name: 'Show output' }));
    await expect(page.getByText('First error, line 2')).toBeVisible();
    await pressOn(page, page.getByRole('navigation', { name: /^Views of/ }).getByRole('link', { name: 'Overview' }));
  });

  await test.step('try again', async () => {
    await pressOn(page, why(page).getByRole('button', { name: 'Try again' }));
    await expect(page.getByText('Retry of share requested', { exact: true })).toBeVisible();
    await expectFocusKept(page);
    await expect.poll(async () => (await api.instanceView(vm.id)).extensions[0]?.goalSequenceNumber).toBe(2);
  });

  await test.step('fix: a setting and one secret', async () => {
    await pressOn(page, why(page).getByRole('link', { name: 'Edit share' }));
    await expect(page).toHaveURL(`/vms/${vm.id}/extensions/share`);
    await pressOn(page, page.getByLabel('Server answers'), 'Space');
    await pressOn(page, page.getByRole('button', { name: 'Change Password' }));
    await expect(page.getByLabel('Password required')).toBeFocused();
    await page.keyboard.type('new password');
    await expect(page.getByText('2 changes, sequence 2 to 3')).toBeVisible();
    await pressOn(page, page.getByRole('button', { name: 'Apply to 1 VM' }));
    await expect(page).toHaveURL(`/vms/${vm.id}`);
    await expect(page.getByText('1 extension, done')).toBeVisible(settled);
  });

  await test.step('revert', async () => {
    await api.setExtension(vm.id, 'share', sampleGoal(mount, { reachable: false }));
    const revert = why(page).getByRole('button', { name: /^Revert to \d+$/ });
    await expect(revert).toBeVisible(settled);
    await pressOn(page, revert);
    const dialog = page.getByRole('alertdialog');
    await pressOn(page, dialog.getByRole('button', { name: /^Revert to \d+$/ }));
    await expect(dialog).toHaveCount(0);
    await expectFocusKept(page);
    await expect(page.getByText('1 extension, done')).toBeVisible(settled);
    await expectFocusKept(page);
  });
});

test('a version is published with its messages carried over', { tag: '@long' }, async ({ signedIn, api, unique }) => {
  const namespace = `Keys.${unique}`;
  const handler = `${namespace}.Probe`;
  const zip = await publishWithMessages(api, handler);
  const page = await signedIn('publisher', { namespaces: [namespace] });
  await page.goto('/handlers');
  await pressOn(page, page.getByRole('link', { name: 'Publish a package' }));
  const waiting = page.waitForEvent('filechooser');
  await pressOn(page, page.getByRole('button', { name: 'Choose zip' }));
  await (await waiting).setFiles({ name: `${handler}-1.1.0.0.zip`, mimeType: 'application/zip', buffer: zip });
  await expect(page.getByLabel('Carry over messages and settings schema')).toBeChecked();
  await pressOn(page, page.getByRole('button', { name: 'Upload' }));
  await expect(page).toHaveURL(`/handlers/${handler}/1.1.0.0`);
  await pressOn(page, page.getByRole('button', { name: 'Publish 1.1.0.0' }));
  const dialog = page.getByRole('dialog', { name: 'Publish 1.1.0.0?' });
  await pressOn(page, dialog.getByRole('button', { name: 'Publish 1.1.0.0' }));
  await expect(page.getByText('Published', { exact: true }).first()).toBeVisible();
  await expectFocusKept(page);
});

test('a publisher is invited with a namespace', async ({ signedIn, unique }) => {
  const page = await signedIn('admin');
  await page.goto('/settings/members');
  await pressOn(page, page.getByRole('button', { name: 'Invite by link' }).first());
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('For', { exact: true })).toBeFocused();
  await page.keyboard.type(`Paula ${unique}`);
  await tabTo(page, dialog.getByLabel('Role'));
  await page.keyboard.type('Publisher');
  await pressOn(page, dialog.getByRole('button', { name: 'New namespace…' }));
  await expect(dialog.getByLabel('New namespace', { exact: true })).toBeFocused();
  await page.keyboard.type(`Keys.${unique}`);
  await page.keyboard.press('Enter');
  const link = page.getByRole('dialog', { name: 'Send this link' });
  await expect(link.getByText(/set-up\?token=/)).toBeVisible();
  await pressOn(page, link.getByRole('button', { name: 'Done' }));
  await expect(page.getByRole('row', { name: new RegExp(`Paula ${unique} Publisher Keys\\.${unique}`) })).toBeVisible();
  await expectFocusKept(page);
});

test('the VMs with an older version are listed', { tag: '@long' }, async ({ signedIn, api, unique }) => {
  const handler = `Keys.${unique}.Probe`;
  const zip = await publishWithMessages(api, handler);
  await api.publish(handler, '1.1.0.0', zip);
  const vm = await api.createVm(`keys-old-${unique}`);
  await api.setExtension(vm.id, 'probe', { handler, version: '1.0.0.0' });
  const newer = await api.createVm(`keys-new-${unique}`);
  await api.setExtension(newer.id, 'probe', { handler, version: '1.1.0.0' });
  const page = await signedIn('viewer');
  await page.goto('/vms');
  await pressOn(page, page.getByRole('group', { name: 'Filters' }).getByRole('button', { name: 'Handler' }));
  await expect(page.getByRole('combobox', { name: 'Find a handler' })).toBeFocused();
  await page.keyboard.type(handler);
  const older = page.getByRole('option', { name: 'older than 1.1.0.0' });
  await expect(older).toBeVisible(settled);
  while ((await older.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/olderThan=1\.1\.0\.0/);
  await expectFocusKept(page);
  await pressOn(page, page.getByRole('table').getByRole('link', { name: vm.name, exact: true }));
  await expect(page).toHaveURL(`/vms/${vm.id}`);
});

test('the first machine is enrolled, and the dialog follows it', async ({ signedIn, portal, unique }) => {
  const name = `keys-first-${unique}`;
  const page = await signedIn('operator');
  await page.goto('/');
  await page.keyboard.press('g');
  await page.keyboard.press('v');
  // Waits for the list, because keys pressed earlier would go to the previous page.
  await expect(page).toHaveURL('/vms');
  await expect(page.getByRole('heading', { level: 1, name: 'VMs' })).toBeVisible();
  await pressOn(page, page.getByRole('button', { name: 'Enroll a VM' }).first());
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('Name')).toBeFocused();
  await page.keyboard.type(name);
  await page.keyboard.press('Enter');
  const command = dialog.getByText(/ANNEX_ENROLLMENT_TOKEN=\S+ sh$/).first();
  await expect(command).toBeVisible();
  await expectFocusKept(page);
  const enrollmentToken = /ANNEX_ENROLLMENT_TOKEN=(\S+)/.exec((await command.textContent()) ?? '')?.[1] ?? '';
  const agent = await AgentProcess.start(portal, { enrollmentToken });
  try {
    const progress = dialog.getByRole('region', { name: `Progress of ${name}` });
    await expect(progress.getByRole('status')).toHaveText(`${name} is healthy.`, settled);
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
    await expectFocusKept(page);
  } finally {
    await agent.remove();
  }
});

test('what happened last night is read', async ({ signedIn }) => {
  const page = await signedIn('viewer');
  await page.goto('/');
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await expect(page).toHaveURL('/activity');
  await pressOn(page, page.getByRole('button', { name: /^Last night/ }));
  await expect(page).toHaveURL(/since=night/);
  await expectFocusKept(page);
});

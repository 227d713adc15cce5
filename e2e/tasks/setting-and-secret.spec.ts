import { countClicks } from '../support/clicks.ts';
import { expect, test } from '../support/test.ts';
import { zipOf } from '../support/zip.ts';

const handler = 'Acme.Tasks.Mount';
const commands = Object.fromEntries(
  ['install', 'update', 'enable', 'disable', 'uninstall'].map((command) => [`${command}Command`, 'bin/run.sh']),
);
const manifest = [
  { version: 1.0, handlerManifest: { ...commands, rebootAfterInstall: false, reportHeartbeat: false } },
];
const settingsSchema = {
  publicSettings: { type: 'object', properties: { server: { type: 'string', title: 'Server' } } },
  protectedSettings: {
    type: 'object',
    required: ['password'],
    properties: { password: { type: 'string', title: 'Password' }, keytab: { type: 'string', title: 'Keytab' } },
  },
};

test.beforeAll(async ({ api }) => {
  await api.ensurePublisher('Acme.Tasks');
  const zip = await zipOf({ 'HandlerManifest.json': JSON.stringify(manifest), 'bin/run.sh': '#!/bin/sh\nexit 0\n' });
  await api.publish(handler, '1.0.0.0', zip, { settingsSchema });
});

test('setting and secret: one of each is changed, and the other secret stays', async ({ api, signedIn, unique }) => {
  const vm = await api.createVm(`setting-${unique}`);
  const protectedSettings = { password: 'old password', keytab: 'old keytab' };
  const settings = { publicSettings: { server: 'a.example.net' }, protectedSettings };
  await api.setExtension(vm.id, 'share', { handler, version: '1.0.0.0', settings });
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);

  const clicks = await countClicks(page);
  await page.getByRole('button', { name: 'Actions for share' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await page.getByLabel('Server').click();
  await page.getByLabel('Server').fill('b.example.net');
  await page.getByRole('button', { name: 'Change Password' }).click();
  await expect(page.getByLabel('Password required')).toBeFocused();
  await page.keyboard.type('new password');
  await expect(page.getByText('2 changes, sequence 1 to 2')).toBeVisible();
  const apply = page.getByRole('button', { name: 'Apply to 1 VM' });
  await expect(apply).not.toHaveAttribute('aria-disabled');
  await apply.click();
  await expect(page).toHaveURL(`/vms/${vm.id}`);
  await clicks.expectAtMost('setting and secret', 5);

  interface Declared {
    publicSettings: unknown;
    protectedSettings: { settings: { name: string; changedBy: string }[] };
  }
  const declared = await api.call<Declared>('GET', `/vms/${vm.id}/extensions/share`);
  expect(declared.publicSettings).toEqual({ server: 'b.example.net' });
  expect(declared.protectedSettings.settings).toMatchObject([
    { name: 'password', changedBy: 'Operator' },
    { name: 'keytab', changedBy: 'Bootstrap token' },
  ]);
});

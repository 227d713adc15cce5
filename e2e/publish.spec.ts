import type { Page } from '@playwright/test';
import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import { countClicks } from './support/clicks.ts';
import { expect, test } from './support/test.ts';
import { commands, manifest, messageFile, publishWithMessages, script } from './support/versions.ts';
import { zipOf } from './support/zip.ts';

/** Chromium logs every rejected request. These journeys provoke rejections. */
const refused = /status of (409|422)/;

/** Replaces a file name in a zip with a name of the same length, because zip libraries would reject the new name. */
function renamed(zip: Buffer, from: string, to: string): Buffer {
  return Buffer.from(zip.toString('latin1').replaceAll(from, to), 'latin1');
}

async function choose(page: Page, name: string, buffer: Buffer): Promise<void> {
  const waiting = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: /^Choose (zip|another zip)$/ }).click();
  await (await waiting).setFiles({ name, mimeType: 'application/zip', buffer });
}

test('a publisher corrects a zip, writes messages and publishes; an operator finds the version', {
  tag: '@long',
}, async ({ api, signedIn, unique, console }) => {
  // This test runs axe on many whole pages.
  test.setTimeout(240_000);
  console.allow(refused);
  const namespace = `Contoso.${unique}`;
  await api.ensurePublisher(namespace);
  const handler = `${namespace}.Probe`;
  const page = await signedIn('publisher', { namespaces: [namespace] });

  await test.step('a broken zip: every fault is at its place, nothing is registered (AZ-P2, AZ-P3, AZ-P4)', async () => {
    await page.goto('/publish');
    await expectAccessibleInBothThemes(page);
    const { disableCommand: _, ...four } = commands;
    const broken = await zipOf({
      'HandlerManifest.json': manifest({
        ...four,
        updateCommand: '../elsewhere/update.sh',
        rebootAfterInstall: false,
        reportHeartbeat: 'yes',
      }),
      'bin/probe.sh': script,
      'bin/xx/xx/escape.sh': script,
    });
    await choose(page, `${handler}-1.2.0.0.zip`, renamed(broken, 'bin/xx/xx/escape.sh', 'bin/../../escape.sh'));
    await expect(page.getByLabel('Handler', { exact: true })).toHaveValue(handler);
    await expect(page.getByLabel('Version', { exact: true })).toHaveValue('1.2.0.0');
    await page.getByRole('button', { name: 'Upload' }).click();

    await expect(page.getByRole('alert').filter({ hasText: 'The package was rejected' })).toBeVisible();
    const manifestCard = page.getByRole('region', { name: 'HandlerManifest.json' });
    await expect(manifestCard.getByText('This value must be true or false, without quotation marks.')).toBeVisible();
    await expect(manifestCard.getByText('This field is required.')).toBeVisible();
    await expect(
      page.getByText('The name contains “..” and points outside the package. Use a path inside the package.'),
    ).toBeVisible();
    await expect(manifestCard.getByText('is outside the package').first()).toBeVisible();
    await expect(page.getByRole('link', { name: '4 errors' })).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await api.call('GET', `/handlers/${handler}`, { status: 404 });
  });

  await test.step('the corrected zip becomes a draft', async () => {
    const flags = { rebootAfterInstall: false, reportHeartbeat: true };
    const mended = await zipOf({ 'HandlerManifest.json': manifest({ ...commands, ...flags }), 'bin/probe.sh': script });
    await choose(page, `${handler}-1.2.0.0.zip`, mended);
    await page.getByRole('button', { name: 'Upload' }).click();
    await expect(page).toHaveURL(`/handlers/${handler}/1.2.0.0`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Probe 1.2.0.0');
    await expect(page.getByText('Draft', { exact: true })).toBeVisible();
  });

  await test.step('messages in en and de have previews (AZ-L4, AZ-L6)', async () => {
    await page.getByLabel('Message ID').fill('disk-full');
    await page.getByRole('button', { name: 'Add message' }).click();
    await page.getByRole('button', { name: 'Add language', exact: true }).click();
    await page.getByLabel('Language tag').fill('de');
    await page.getByRole('button', { name: 'Add', exact: true }).click();

    const german = page.getByLabel('de text of disk-full');
    await german.fill('Datenträger {0} ist voll');
    await expect(page.getByRole('link', { name: 'Save the messages first' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Publish 1.2.0.0' })).toBeDisabled();
    await page.getByRole('button', { name: 'Save de (1 change)' }).click();
    await expect(page.getByRole('link', { name: 'Add the English messages first' })).toBeVisible();

    await page.getByLabel('en text of disk-full').fill('Disk {0} is {1} % full');
    await expect(page.getByText('Missing placeholders: {1}.')).toBeVisible();
    await german.fill('Datenträger {0} ist zu {1} % voll');
    await expect(page.getByText('Missing placeholders: {1}.')).toBeHidden();
    await page.getByLabel('Sample for {0}').fill('/dev/sda');
    await page.getByLabel('Sample for {1}').fill('97');
    await expect(page.getByText('Disk /dev/sda is 97 % full')).toBeVisible();
    await expect(page.getByText('Datenträger /dev/sda ist zu 97 % voll')).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await page.getByRole('button', { name: 'Save en (1 change)' }).click();
    await page.getByRole('button', { name: 'Save de (1 change)' }).click();
    await expect(page.getByRole('button', { name: /^Save / })).toHaveCount(0);
  });

  await test.step('an unsaved schema blocks publishing', async () => {
    const name = 'settings-schema.json';
    const buffer = Buffer.from('{ "publicSettings": { "type": "object" } }');
    await page.getByLabel('Choose file').setInputFiles({ name, mimeType: 'application/json', buffer });
    await expect(page.getByRole('link', { name: 'Save the settings schema first' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Publish 1.2.0.0' })).toBeDisabled();
    await page.getByRole('button', { name: 'Save schema' }).click();
  });

  await test.step('readers of the published version get the texts of the preview', async () => {
    await page.getByRole('button', { name: 'Publish 1.2.0.0' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish 1.2.0.0?' });
    await expect(dialog.getByText('complete in en and de')).toBeVisible();
    await expect(dialog.getByText('used to validate settings')).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await dialog.getByRole('button', { name: 'Publish 1.2.0.0' }).click();
    await expect(page.getByRole('link', { name: 'Assign the version to VMs' })).toBeVisible();
    const { items } = await api.call<{ items: { lang: string; missing: string[] }[] }>(
      'GET',
      `/handlers/${handler}/versions/1.2.0.0/resources`,
    );
    expect(items).toMatchObject([
      { lang: 'en', missing: [] },
      { lang: 'de', missing: [] },
    ]);
  });

  await test.step('another zip for the same version is rejected (AZ-P1)', async () => {
    await page.goto(`/publish?handler=${handler}`);
    const flags = { rebootAfterInstall: true, reportHeartbeat: true };
    const other = await zipOf({ 'HandlerManifest.json': manifest({ ...commands, ...flags }), 'bin/probe.sh': script });
    await choose(page, 'probe.zip', other);
    await page.getByLabel('Version', { exact: true }).fill('1.2.0.0');
    await page.getByRole('button', { name: 'Upload' }).click();
    await expect(
      page.getByText('Version 1.2.0.0 already exists with different contents. Use a higher version.'),
    ).toBeVisible();
    await expect(page.getByLabel('Version', { exact: true })).toHaveValue('1.2.0.0');
  });

  await test.step('a manifest.xml names handler and version', async () => {
    await page.goto('/publish');
    const image = `<?xml version="1.0"?><ExtensionImage xmlns="http://schemas.microsoft.com/windowsazure">
      <ProviderNameSpace>${namespace}</ProviderNameSpace><Type>Probe</Type><Version>1.3.0.0</Version></ExtensionImage>`;
    await choose(page, 'build-77.zip', await zipOf({ 'manifest.xml': image, 'bin/probe.sh': script }));
    await expect(page.getByLabel('Handler', { exact: true })).toHaveValue(handler);
    await expect(page.getByLabel('Version', { exact: true })).toHaveValue('1.3.0.0');
  });

  await test.step('an operator finds the version and cannot change it', async () => {
    const operator = await signedIn('operator');
    await operator.goto('/handlers');
    await expectAccessibleInBothThemes(operator);
    await operator.getByRole('searchbox').fill(namespace);
    await expect(operator).toHaveURL(`/handlers?q=${namespace}`);
    const found = operator.getByRole('link', { name: 'Probe' });
    await expect(found).toHaveCount(1);
    await found.click();
    await expect(operator.getByRole('heading', { level: 1 })).toHaveText('Probe');
    await expect(operator.getByRole('link', { name: 'Upload a version' })).toHaveCount(0);
    await expectAccessibleInBothThemes(operator);
    await operator.getByRole('link', { name: '1.2.0.0' }).click();
    await expect(operator.getByRole('button', { name: 'en text of disk-full' })).toBeVisible();
    await expect(operator.getByRole('button', { name: 'Upload files' })).toHaveCount(0);
    await expectAccessible(operator);
    await operator.goto('/publish');
    await expect(operator.getByRole('heading', { level: 1 })).toHaveText('You need a different role');
  });
});

test('a publisher publishes a new version with the messages carried over', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
}) => {
  const namespace = `Carried.${unique}`;
  const handler = `${namespace}.Probe`;
  const zip = await publishWithMessages(api, handler);
  const put = (part: string, body: unknown) =>
    api.call('PUT', `/handlers/${handler}/versions/1.2.0.0/${part}`, { body });

  const page = await signedIn('publisher', { namespaces: [namespace] });
  const clicks = await countClicks(page);

  await test.step('the draft has the messages and the schema, and says where they come from', async () => {
    await page.goto('/handlers');
    await clicks.restart();
    await page.getByRole('link', { name: 'Publish a package' }).click();
    await choose(page, `${handler}-1.1.0.0.zip`, zip);
    await expect(page.getByLabel('Carry over messages and settings schema')).toBeChecked();
    await page.getByRole('button', { name: 'Upload' }).click();
    await expect(page).toHaveURL(`/handlers/${handler}/1.1.0.0`);
    await expect(page.getByText('Carried over from 1.0.0.0 and not edited since: en and de.')).toBeVisible();
    await expect(page.getByText('carried over from 1.0.0.0', { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Publish 1.1.0.0' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish 1.1.0.0?' });
    const compared = dialog.getByRole('region', { name: 'Compared with 1.0.0.0' });
    await expect(compared).toHaveText(/No language, message, setting, platform or command is lost/);
    await dialog.getByRole('button', { name: 'Publish 1.1.0.0' }).click();
    await expect(page.getByText('Published', { exact: true }).first()).toBeVisible();
    await clicks.expectAtMost('publish with messages carried over', 6);
  });

  await test.step('without carrying over, the dialog names what would be lost', async () => {
    await page.goto(`/publish?handler=${handler}`);
    await choose(page, `${handler}-1.2.0.0.zip`, zip);
    await page.getByLabel('Carry over messages and settings schema').uncheck();
    await expectAccessibleInBothThemes(page);
    await page.getByRole('button', { name: 'Upload' }).click();
    await expect(page).toHaveURL(`/handlers/${handler}/1.2.0.0`);
    await put('resources/en', messageFile('en', 'Disk {0} is {1} % full'));
    const required = { type: 'object', properties: { path: {} }, required: ['path'] };
    await put('settings-schema', { publicSettings: required });
    await put('platforms', { platforms: [{ os: 'linux' }] });
    await page.getByRole('button', { name: 'Publish 1.2.0.0' }).click();
    const compared = page.getByRole('region', { name: 'Compared with 1.1.0.0' });
    await expect(compared.getByRole('listitem')).toHaveText([
      /1 language is missing: de/,
      /1 message has different placeholders: full \(en: \{0\} → \{0\} \{1\}\)/,
      /1 setting was removed from the schema: \/publicSettings\/port/,
      /1 setting is now required: \/publicSettings\/path/,
      /No longer supported: windows, darwin/,
    ]);
    await expectAccessibleInBothThemes(page);
  });
});

test('a version is withdrawn with a reason, and a draft is deleted', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
}) => {
  const namespace = `Withdrawn.${unique}`;
  await api.ensurePublisher(namespace);
  const handler = `${namespace}.Probe`;
  const flags = { rebootAfterInstall: false, reportHeartbeat: false };
  const zip = await zipOf({ 'HandlerManifest.json': manifest({ ...commands, ...flags }), 'bin/probe.sh': script });
  await api.publish(handler, '1.0.0', zip);
  await api.call('PUT', `/handlers/${handler}/versions/1.1.0/package`, { body: zip });

  const page = await signedIn('publisher', { namespaces: [namespace] });
  await page.goto(`/handlers/${handler}`);
  await page.getByRole('button', { name: 'Actions for 1.0.0' }).click();
  await page.getByRole('menuitem', { name: 'Withdraw' }).click();
  await expect(page.getByText('No VM uses it.')).toBeVisible();
  await page.getByRole('button', { name: 'Withdraw 1.0.0' }).click();
  await expect(page.getByText('Enter a reason.')).toBeVisible();
  await page.getByLabel('Reason').fill('It fills the disk.');
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: 'Withdraw 1.0.0' }).click();
  await expect(page.getByRole('row', { name: /1\.0\.0 Withdrawn It fills the disk\./ })).toBeVisible();

  await page.getByRole('button', { name: 'Actions for 1.1.0' }).click();
  await page.getByRole('menuitem', { name: 'Delete draft' }).click();
  await page.getByRole('textbox').fill('1.1.0');
  await page.getByRole('button', { name: 'Delete 1.1.0' }).click();
  await expect(page.getByRole('link', { name: '1.1.0' })).toHaveCount(0);
});

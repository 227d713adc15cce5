import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { formulaPackage, samplePackage, sampleResource } from '#samples/build.ts';
import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import type { Api } from './support/api.ts';
import { withDatabase } from './support/database.ts';
import { expect, test } from './support/test.ts';

/** Gives agents time to install, run scripts and report, and the worker time to collect unknown ids. */
const patient = { timeout: 45_000, intervals: [200, 500] };

/** Returns the sample's messages in a language, without those with the given ids. */
function without(lang: 'en' | 'de', ...ids: string[]): unknown[] {
  const [file] = sampleResource('Acme.Lab.Probe', lang) as [{ messages: { id: string }[] }];
  return [{ ...file, messages: file.messages.filter(({ id }) => !ids.includes(id)) }];
}

const words = (lang: string, messages: Record<string, string>) => [
  { version: 1.0, lang, messages: Object.entries(messages).map(([id, text]) => ({ id, text })) },
];

/** Publishes the probe under an id for this journey, with texts in these languages. */
async function givenProbe(api: Api, handler: string, resources: Record<string, unknown>, version = '1.0.0.0') {
  await api.ensurePublisher(handler.slice(0, handler.lastIndexOf('.')));
  await api.publish(handler, version, await samplePackage('Acme.Lab.Probe', '1.0.0.0'), { resources });
}

async function load(page: Page, file: { name: string; mimeType: string; buffer: Buffer }): Promise<void> {
  const waiting = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Upload files' }).click();
  await (await waiting).setFiles(file);
}

test('an unknown message id leads from the machine to the inbox, its text and the VM page', { tag: '@long' }, async ({
  api,
  signedIn,
  startAgent,
  unique,
}) => {
  test.setTimeout(240_000);
  const namespace = `Unknown.${unique}`;
  const handler = `${namespace}.Probe`;
  await givenProbe(api, handler, { en: without('en', 'probe_watching'), de: sampleResource('Acme.Lab.Probe', 'de') });
  const vm = await api.createVm(`unknown-${unique}`);
  const settings = { publicSettings: { target: 'www.example.net' } };
  await api.setExtension(vm.id, 'probe', { handler, version: '1.0.0.0', settings });

  const operator = await signedIn('operator');
  await operator.goto(`/vms/${vm.id}`);
  const page = await signedIn('publisher', { namespaces: [namespace] });
  await page.goto(`/handlers/${handler}`);
  await expect(page.getByText('There is a message for every reported ID.')).toBeVisible();

  await test.step('the agent reports the id, and it appears in the open inbox with its params', async () => {
    await startAgent(vm);
    const inbox = page.getByRole('list', { name: 'Unknown messages' });
    await expect(inbox.getByText('probe_watching')).toBeVisible(patient);
    await expect(inbox.getByText('["www.example.net","1"]')).toBeVisible();
    await expect(operator.getByText('Watching www.example.net. Times enabled: 1.').first()).toBeVisible(patient);
    await expectAccessibleInBothThemes(page);
  });

  await test.step('one click leads to the message’s field, with the params as sample values', async () => {
    await page.getByRole('link', { name: 'Add message for probe_watching' }).click();
    const field = page.getByLabel('en text of probe_watching');
    await expect(field).toBeFocused();
    await expect(page.getByLabel('Sample for {0}')).toHaveValue('www.example.net');
    await field.fill('{0} is watched, {1} times.');
    await expect(page.getByText('www.example.net is watched, 1 times.')).toBeVisible();
    await page.getByRole('button', { name: 'Save en (1 change)' }).click();
    await expect(page.getByRole('button', { name: /^Save en/ })).toHaveCount(0);
  });

  await test.step('the VM page shows the text, and the inbox is empty', async () => {
    await expect(operator.getByText('www.example.net is watched, 1 times.').first()).toBeVisible();
    await page.goto(`/handlers/${handler}`);
    await expect(page.getByText('There is a message for every reported ID.')).toBeVisible();
  });

  await test.step('a German reader finds messages that only lack a German text in a separate list', async () => {
    await api.call('PUT', `/handlers/${handler}/versions/1.0.0.0/resources/de`, {
      body: without('de', 'target_reached'),
    });
    const german = await signedIn('publisher', { namespaces: [namespace], locale: 'de' });
    await german.goto(`/handlers/${handler}`);
    await german.getByRole('button', { name: 'Fehlt auf Deutsch' }).click();
    await expectAccessible(german);
    await german.getByRole('link', { name: 'Meldung hinzufügen: target_reached' }).click();
    await expect(german.getByLabel('Text von target_reached (de)')).toBeFocused();
    await expect(german.getByLabel('Beispiel für {0}')).toHaveValue('www.example.net');
  });
});

test('a language is exported as XLIFF for translators, and imported again', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
  console,
}) => {
  test.setTimeout(180_000);
  console.allow(/status of 422/);
  const namespace = `Xliff.${unique}`;
  const handler = `${namespace}.Probe`;
  await givenProbe(api, handler, {
    en: words('en', { full: 'Disk {0} is {1} % full', slow: 'Disk {0} is slow', idle: 'Idle' }),
    de: words('de', { full: 'Platte {0} ist zu {1} % voll' }),
  });
  const page = await signedIn('publisher', { namespaces: [namespace] });
  await page.goto(`/handlers/${handler}/1.0.0.0`);

  const save = async (lang: string, format: string): Promise<string> => {
    await page.getByRole('button', { name: 'Export XLIFF' }).click();
    await page.getByLabel('Target language').fill(lang);
    await page.getByLabel('Format').selectOption(format);
    await expectAccessible(page);
    const waiting = page.waitForEvent('download');
    await page.getByRole('link', { name: `Export ${lang} as XLIFF` }).click();
    const download = await waiting;
    expect(download.suggestedFilename()).toBe(`${handler}-1.0.0.0.${lang}.xlf`);
    return readFileSync(await download.path(), 'utf8');
  };
  const xliff = (name: string, text: string) => ({
    name,
    mimeType: 'application/xliff+xml',
    buffer: Buffer.from(text),
  });

  await test.step('changes of a translated file are previewed before they are stored', async () => {
    const sent = await save('de', '2.1');
    const back = sent
      .replace('Platte ', 'Datenträger ')
      .replace(/(<unit id="idle">.*?<source>Idle<\/source>)/s, '$1<target>Untätig</target>')
      .replace(/(<unit id="slow">.*?<\/source>)/s, '$1<target>Langsam</target>');
    await load(page, xliff('back.xlf', back));
    const dialog = page.getByRole('dialog', { name: 'Translations for de' });
    await expect(dialog.getByText('2 new, 1 changed')).toBeVisible();
    await expect(dialog.getByText(/placeholders of message slow differ/)).toBeVisible();
    await expect(dialog.getByRole('row', { name: /^idle not translated Untätig/ })).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await dialog.getByRole('button', { name: 'Save 3 translations in de' }).click();
    await expect(page.getByRole('button', { name: 'de text of full' })).toContainText(
      'Datenträger {0} ist zu {1} % voll',
    );
    await expect(page.getByRole('button', { name: 'de text of idle' })).toContainText('Untätig');
  });

  await test.step('the first file of a language creates it', async () => {
    const sent = await save('fr', '1.2');
    const back = sent.replace('<source>Idle</source>', '<source>Idle</source><target>Au repos</target>');
    await load(page, xliff('fr.xlf', back));
    await page.getByRole('button', { name: 'Save 1 translation in fr' }).click();
    await expect(page.getByRole('button', { name: 'fr text of idle' })).toContainText('Au repos');
  });

  await test.step('a file of another version and a hostile file are rejected with the reason', async () => {
    const other = (await save('de', '2.1')).replaceAll('1.0.0.0', '9.9.9.9');
    await load(page, xliff('other.xlf', other));
    await expect(
      page.getByText(`The file was exported from ${handler}-9.9.9.9. Upload a file exported from ${handler}-1.0.0.0.`),
    ).toBeVisible();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).first().click();
    await load(page, xliff('evil.xlf', '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><xliff>&e;</xliff>'));
    await expect(page.getByText(/document type declaration/)).toBeVisible();
  });
});

test('if two people edit a language, edits of different messages are merged, and edits of the same message conflict', {
  tag: '@long',
}, async ({ api, signedIn, unique, console }) => {
  console.allow(/status of 412/);
  const namespace = `Two.${unique}`;
  const handler = `${namespace}.Probe`;
  await givenProbe(api, handler, { en: words('en', { a: 'One', b: 'Two', c: 'Three' }) });
  const put = (messages: Record<string, string>) =>
    api.call('PUT', `/handlers/${handler}/versions/1.0.0.0/resources/en`, { body: words('en', messages) });
  const page = await signedIn('publisher', { namespaces: [namespace] });
  await page.goto(`/handlers/${handler}/1.0.0.0`);
  await page.getByRole('button', { name: 'en text of a' }).click();
  await page.getByLabel('en text of a').fill('One, mine');

  await put({ a: 'One', b: 'Two, theirs', c: 'Three' });
  await page.getByRole('button', { name: 'Save en (1 change)' }).click();
  await expect(page.getByRole('button', { name: /^Save en/ })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'en text of b' })).toContainText('Two, theirs');

  await page.getByRole('button', { name: 'en text of c' }).click();
  await page.getByLabel('en text of c').fill('Three, mine');
  await put({ a: 'One, mine', b: 'Two, theirs', c: 'Three, theirs' });
  const conflict = page.getByRole('alert').filter({ hasText: 'saved a different text in the meantime:' });
  await expect(conflict).toContainText('Three, theirs');
  await expect(page.getByRole('button', { name: 'Save en (1 change)' })).toBeDisabled();
  await expectAccessibleInBothThemes(page);
  await conflict.getByRole('button', { name: 'Keep my text' }).click();
  await page.getByRole('button', { name: 'Save en (1 change)' }).click();
  await expect(page.getByRole('button', { name: /^Save en/ })).toHaveCount(0);
  const { messages } = await api.call<{ messages: { id: string; text: string }[] }>(
    'GET',
    `/handlers/${handler}/versions/1.0.0.0/resources/en`,
  );
  expect(messages.map(({ text }) => text)).toEqual(['One, mine', 'Two, theirs', 'Three, mine']);
});

test('the handler page shows adoption, failures, languages and two versions side by side', { tag: '@long' }, async ({
  portal,
  api,
  signedIn,
  unique,
}) => {
  test.setTimeout(180_000);
  const namespace = `History.${unique}`;
  const handler = `${namespace}.Probe`;
  await givenProbe(api, handler, { en: words('en', { a: 'One', b: 'Two' }), de: words('de', { a: 'Eins' }) });
  await givenProbe(api, handler, { en: words('en', { a: 'First', c: 'Three' }) }, '1.1.0.0');
  const vm = await api.createVm(`history-${unique}`);
  await api.setExtension(vm.id, 'probe', { handler, version: '1.0.0.0' });
  await withDatabase(portal, (client) =>
    client.query(
      `insert into version_counts (handler, version, hour, vms, failed)
        select $1, '1.0.0.0', date_trunc('hour', now()) - make_interval(hours => h), 40, 4 from generate_series(1, 400) h`,
      [handler],
    ),
  );
  const page = await signedIn('viewer');
  await page.goto(`/handlers/${handler}`);

  await test.step('the chart has a description and a table', async () => {
    await expect(page.getByRole('img', { name: 'Now: 1.0.0.0 on 1 VM.' })).toBeVisible();
    await expect(
      page.getByRole('img', { name: 'Daily failure rate of 1.0.0.0 in the last 14 days. Highest: 10%' }),
    ).toBeVisible();
    // The axis covers the chosen period, even for a new handler.
    const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'Europe/Berlin' });
    const first = days.format(Date.now() - 60 * 86_400_000);
    await expect(page.getByRole('main')).toContainText(first);
    await page.getByRole('radio', { name: '7 d' }).click();
    await page.getByText('Show as table').click();
    await expect(
      page.getByRole('region', { name: 'Adoption' }).getByRole('cell', { name: '40' }).first(),
    ).toBeVisible();
    await expectAccessibleInBothThemes(page);
  });

  await test.step('the VMs of a version are a link to the list', async () => {
    const link = page.getByRole('row', { name: /^1\.0\.0\.0/ }).getByRole('link', { name: '1 VM', exact: true });
    await expect(link).toHaveAttribute('href', `/vms?handler=${handler}&version=1.0.0.0`);
  });

  await test.step('the languages of another version can be shown', async () => {
    await page.getByLabel('Languages of version').selectOption('1.0.0.0');
    await expect(page.getByRole('meter', { name: 'Coverage of de' })).toHaveAttribute('aria-valuetext', '1 missing');
    await expect(page.getByRole('link', { name: '1 missing' })).toHaveAttribute('href', /missing=de#messages$/);
  });

  await test.step('two versions are compared', async () => {
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Probe: changes');
    const messages = page.getByRole('region', { name: 'English messages' });
    await expect(messages.getByRole('row', { name: 'changed a One First' })).toBeVisible();
    await expect(messages.getByRole('row', { name: 'removed b Two' })).toBeVisible();
    await expect(messages.getByRole('row', { name: 'added c Three' })).toBeVisible();
    await expect(page.getByText('unchanged').first()).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await page.getByLabel('Later version').selectOption('1.0.0.0');
    await expect(page.getByText('Choose two different versions.')).toBeVisible();
  });

  await test.step('a publisher of another namespace sees the handler, and why it is read-only', async () => {
    await api.ensurePublisher(`Elsewhere.${unique}`);
    const stranger = await signedIn('publisher', { namespaces: [`Elsewhere.${unique}`] });
    await stranger.goto(`/handlers/${handler}`);
    await expect(stranger.getByText(`In ${namespace}, you have read access only`)).toBeVisible();
    await expect(stranger.getByRole('link', { name: 'Upload a version' })).toHaveCount(0);
    await stranger.goto(`/handlers/${handler}/1.0.0.0`);
    await expect(stranger.getByRole('button', { name: 'en text of a' })).toBeVisible();
    await expect(stranger.getByRole('button', { name: 'Upload files' })).toHaveCount(0);
  });
});

test('an operator rolls a new version out to a VM with an older version', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
}) => {
  const handler = `Rollout.${unique}.Probe`;
  await givenProbe(api, handler, {});
  await givenProbe(api, handler, {}, '1.1.0.0');
  const vm = await api.createVm(`rollout-${unique}`);
  const current = await api.createVm(`current-${unique}`);
  const settings = { publicSettings: { target: 'www.example.net' } };
  await api.setExtension(vm.id, 'probe', { handler, version: '1.0.0.0', settings });
  await api.setExtension(current.id, 'probe', { handler, version: '1.1.0.0', settings });
  const page = await signedIn('operator');

  await test.step('the handler’s page leads to the VMs with an older version, which show the newer version', async () => {
    await page.goto(`/handlers/${handler}`);
    await expectAccessibleInBothThemes(page);
    await page.getByRole('link', { name: 'Roll out 1.1.0.0' }).click();
    await expect(page.getByRole('row').filter({ hasText: unique })).toHaveCount(1, patient);
    const row = page.getByRole('row').filter({ hasText: vm.name });
    await expect(row.getByText('1.1.0.0 available')).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await row.getByRole('link', { name: vm.name }).click();
  });

  await test.step('the card opens the editor with that version', async () => {
    await page.getByRole('link', { name: '1.1.0.0 available' }).click();
    await expect(page.getByLabel('Version', { exact: true })).toHaveValue('1.1.0.0');
    await page.getByRole('button', { name: 'Apply to 1 VM' }).click();
    await expect(page).toHaveURL(new RegExp(`/vms/${vm.id}`));
    await expect(page.getByRole('link', { name: '1.1.0.0 available' })).toHaveCount(0);
  });

  await test.step('the filter no longer finds a VM with an update', async () => {
    // A page that is opened before the worker has seen the change keeps its row and offers to refresh.
    await expect(async () => {
      await page.goto(`/vms?handler=${handler}&updateAvailable=yes`);
      await expect(page.getByText('No VMs match')).toBeVisible({ timeout: 3_000 });
    }).toPass(patient);
    await page.goto(`/vms?handler=${handler}&updateAvailable=no`);
    await expect(page.getByRole('row').filter({ hasText: unique })).toHaveCount(2, patient);
    await expectAccessibleInBothThemes(page);
  });
});

test('the settings form shows titles and descriptions in the reader’s language', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
}) => {
  const handler = `Titles.${unique}.Probe`;
  await api.ensurePublisher(`Titles.${unique}`);
  const target = 'settings./publicSettings/target';
  const settingsSchema = {
    publicSettings: {
      type: 'object',
      properties: { target: { type: 'string', title: 'Target', description: 'The host to watch.' } },
    },
  };
  await api.publish(handler, '1.0.0.0', await samplePackage('Acme.Lab.Probe', '1.0.0.0'), {
    resources: {
      en: words('en', { [`${target}.title`]: 'Host name' }),
      de: words('de', { [`${target}.title`]: 'Rechnername', [`${target}.description`]: 'Der überwachte Rechner.' }),
    },
    settingsSchema,
  });
  const vm = await api.createVm(`titles-${unique}`);
  await api.setExtension(vm.id, 'probe', { handler, version: '1.0.0.0', settings: { publicSettings: {} } });

  const english = await signedIn('operator');
  await english.goto(`/vms/${vm.id}/extensions/probe`);
  await expect(english.getByLabel('Host name')).toBeVisible();
  await expect(english.getByText('The host to watch.')).toBeVisible();

  const publisher = await signedIn('publisher', { namespaces: [`Titles.${unique}`] });
  await publisher.goto(`/handlers/${handler}/1.0.0.0`);
  await publisher.getByRole('button', { name: 'Add 1 text from the settings schema' }).click();
  await expect(publisher.getByText('The host to watch.').first()).toBeVisible();
  await publisher.getByRole('button', { name: 'Save en (1 change)' }).click();
  await expect(publisher.getByRole('button', { name: /from the settings schema$/ })).toHaveCount(0);

  const german = await signedIn('operator', { locale: 'de' });
  await german.goto(`/vms/${vm.id}/extensions/probe`);
  await german.getByLabel('Rechnername').fill('www.example.net');
  await expect(german.getByText('Der überwachte Rechner.')).toBeVisible();
  await expect(german.getByRole('term').filter({ hasText: 'Rechnername' })).toBeVisible();
  await expectAccessibleInBothThemes(german);
});

test('a publisher uploads a formula, and readers see its relations, hooks and options', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
}) => {
  const namespace = `Formula.${unique}`;
  const formula = `${namespace}.blog`;
  await api.ensurePublisher(namespace);
  const page = await signedIn('publisher', { namespaces: [namespace] });
  await page.goto('/publish');
  const waiting = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose zip' }).click();
  const buffer = await formulaPackage('Acme.Lab.blog', '1.0.0.0');
  await (await waiting).setFiles({ name: 'package-1.0.0.zip', mimeType: 'application/zip', buffer });
  await expect(page.getByLabel('metadata.yaml')).toContainText('provides');
  await expect(page.getByLabel('Formula')).toHaveValue(formula);
  await page.getByRole('button', { name: 'Upload' }).click();

  await expect(page.getByRole('heading', { name: 'blog 1.0.0' })).toBeVisible();
  await expect(
    page.getByRole('region', { name: 'Relations' }).getByRole('row', { name: /^db requires/ }),
  ).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: 'Publish 1.0.0' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Publish 1.0.0' }).click();
  await expect(page.getByText('Published. Deploy services from it, or view all versions.')).toBeVisible();

  await page.goto(`/handlers?q=${namespace}`);
  await page.getByRole('radio', { name: 'Handlers' }).check();
  await expect(page.getByText('No matches')).toBeVisible();
  await page.getByRole('radio', { name: 'Formulas' }).check();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'blog' }).click();
  await expect(
    page.getByRole('region', { name: 'Options' }).getByRole('row', { name: /^port integer 8080/ }),
  ).toBeVisible();
  await expectAccessible(page);
});

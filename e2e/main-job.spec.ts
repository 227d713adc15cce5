import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import type { Api, ExtensionView } from './support/api.ts';
import { expect, test } from './support/test.ts';

/** The probe's messages in Traditional Chinese, in addition to the sample's en, de and ja. */
const traditionalChinese = [
  {
    version: 1.0,
    lang: 'zh-Hant',
    messages: [
      { id: 'probe_watching', text: '正在監看 {0}，已啟用 {1} 次。' },
      { id: 'target_reached', text: '{0} 有回應。' },
    ],
  },
];
const french = [
  { version: 1.0, lang: 'fr', messages: [{ id: 'probe_watching', text: '{0} est surveillé, {1} fois activé.' }] },
];

/**
 * Returns the unpacked packages on a machine. Their folder also contains copies of the machine's key, where handlers
 * look for it.
 */
const packagesOf = (dir: string): string[] =>
  readdirSync(path.join(dir, 'handlers'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();

/** Agents install, run scripts and report, which takes seconds on an idle machine and longer on a busy machine. */
const patient = { timeout: 30_000, intervals: [100, 250] };

const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });

/** Sets a mark on the window. A reload would remove the mark. */
const mark = (page: Page) => page.evaluate(() => Object.assign(window, { stillTheSamePage: true }));
const isMarked = (page: Page) => page.evaluate(() => 'stillTheSamePage' in window);

async function probeOf(api: Api, vmId: string, language = 'en'): Promise<ExtensionView | undefined> {
  const { extensions } = await api.instanceView(vmId, language);
  return extensions.find(({ name }) => name === 'probe');
}

/** Returns the language, source and text of the probe's status message, for a reader with this preferred language. */
async function watchingAs(api: Api, vmId: string, language: string): Promise<string> {
  const message = (await probeOf(api, vmId, language))?.status?.message;
  return `${message?.lang}/${message?.source}: ${message?.text}`;
}

test('a handler is published, declared, run, read in many languages, updated and uninstalled', async ({
  api,
  signedIn,
  startAgent,
  unique,
}) => {
  test.setTimeout(120_000);
  const probe = `Journey.${unique}.Probe`;
  const share = `Journey.${unique}.Mount`;
  const target = 'www.example.net';
  const name = `main-${unique}`;

  const operator = await signedIn('operator');
  const reader = await signedIn('viewer', { locale: 'de-AT' });
  await operator.goto(`/vms?q=${name}`);
  await reader.goto(`/vms?q=${name}`);
  for (const page of [operator, reader]) {
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    await mark(page);
  }

  await test.step('a publisher registers handlers with messages in several languages', async () => {
    await api.publishSample('Acme.Lab.Probe', '1.0.0.0', probe);
    await api.publishSample('Northwind.Storage.Mount', '2.0.0.0', share);
    await api.call('PUT', `/handlers/${probe}/versions/1.0.0.0/resources/zh-Hant`, { body: traditionalChinese });
  });

  const vm = await test.step('an operator creates a VM, and both lists show it', async () => {
    const made = await api.createVm(name, { role: 'journey' });
    await expect(row(operator, name)).toContainText('Never seen');
    await expect(row(reader, name)).toContainText('Noch kein Kontakt');
    return made;
  });

  await test.step('an operator declares extensions, one of them with a secret', async () => {
    await api.setExtension(vm.id, 'share', {
      handler: share,
      version: '2.0.0.0',
      settings: {
        publicSettings: { server: 'files.example.net', user: 'backup' },
        protectedSettings: { password: 'not for the eyes of many' },
      },
    });
    const goal = await api.setExtension(vm.id, 'probe', {
      handler: probe,
      version: '1.0.0.0',
      dependsOn: ['share'],
      settings: { publicSettings: { target, heartbeatSeconds: 1 } },
    });
    expect(goal).toMatchObject({ sequenceNumber: 1, incarnation: 3 });
  });

  const agent = await startAgent(vm);
  await test.step('the agent installs, enables and reports; both lists show it without a reload', async () => {
    await expect.poll(async () => (await api.instanceView(vm.id)).health, patient).toBe('healthy');
    await expect(row(operator, name)).toContainText('Healthy');
    await expect(row(reader, name)).toContainText('In Ordnung');
    for (const extension of ['probe', 'share']) await expect(row(operator, name)).toContainText(extension);
    await expect
      .poll(() => probeOf(api, vm.id), patient)
      .toMatchObject({
        version: '1.0.0.0',
        handlerState: { state: 'enabled' },
        heartbeat: { verdict: 'ready' },
        status: { sequenceNumber: 1, status: 'success' },
      });
  });

  await test.step('the stored status is shown in the language of each reader', async () => {
    const english = `en/resource: Watching ${target}. Times enabled: 1.`;
    const expected: Record<string, string> = {
      en: english,
      'de-AT': `de/resource: ${target} wird beobachtet. Aktivierungen: 1.`,
      'zh-TW': `zh-Hant/resource: 正在監看 ${target}，已啟用 1 次。`,
      fr: english,
      '*': english,
      ';;q=none,,=': english,
      ';;q=none,,de;q=2,=': `de/resource: ${target} wird beobachtet. Aktivierungen: 1.`,
    };
    for (const [language, text] of Object.entries(expected)) {
      expect(await watchingAs(api, vm.id, language), language).toBe(text);
    }
  });

  await test.step('a translation that is added later is shown immediately', async () => {
    await api.call('PUT', `/handlers/${probe}/versions/1.0.0.0/resources/fr`, { body: french });
    expect(await watchingAs(api, vm.id, 'fr')).toBe(`fr/resource: ${target} est surveillé, 1 fois activé.`);
  });

  await test.step('two browsers show the translation too, after following the link to the VM', async () => {
    for (const page of [operator, reader]) await page.getByRole('link', { name, exact: true }).click();
    await expect(operator.getByText(`Watching ${target}. Times enabled: 1.`).first()).toBeVisible();
    await expect(reader.getByText(`${target} wird beobachtet. Aktivierungen: 1.`).first()).toBeVisible();
  });

  await test.step('a browser that requests Japanese gets Japanese messages on a page in English', async () => {
    const japanese = await signedIn('viewer', { locale: 'ja-JP' });
    await japanese.goto(`/vms/${vm.id}`);
    const text = japanese.getByText(`${target} を監視しています。有効化は 1 回です。`).first();
    await expect(text).toBeVisible();
    await expect(text).toHaveAttribute('lang', 'ja');
    await expect(japanese.getByRole('heading', { name: 'Extensions' })).toBeVisible();
    await japanese.context().addCookies([{ name: 'annex-language', value: 'de', url: japanese.url() }]);
    await japanese.reload();
    await expect(japanese.getByText(`${target} wird beobachtet. Aktivierungen: 1.`).first()).toBeVisible();
  });

  const declare = (version: string, state: 'enabled' | 'disabled') =>
    api.setExtension(vm.id, 'probe', {
      handler: probe,
      version,
      state,
      dependsOn: ['share'],
      settings: { publicSettings: { target, heartbeatSeconds: 1 } },
    });
  const enabledTimes = (times: number) => `en/resource: Watching ${target}. Times enabled: ${times}.`;

  await test.step('a new version takes over the state of the old version', async () => {
    await api.publishSample('Acme.Lab.Probe', '1.1.0.0', probe);
    await declare('1.1.0.0', 'enabled');
    await expect.poll(() => watchingAs(api, vm.id, 'en'), patient).toBe(enabledTimes(2));
    expect(await probeOf(api, vm.id)).toMatchObject({ version: '1.1.0.0', status: { sequenceNumber: 2 } });
    await expect(operator.getByText(`Watching ${target}. Times enabled: 2.`).first()).toBeVisible();
    await expect(reader.getByText(`${target} wird beobachtet. Aktivierungen: 2.`).first()).toBeVisible();
    for (const page of [operator, reader]) await page.goBack();
    expect(packagesOf(agent.dir)).toEqual([`${share}-2.0.0.0`, `${probe}-1.1.0.0`].sort());
  });

  await test.step('the extension is disabled and enabled again', async () => {
    await declare('1.1.0.0', 'disabled');
    await expect.poll(async () => (await probeOf(api, vm.id))?.health, patient).toBe('disabled');
    await expect(row(operator, name).getByTitle('Disabled')).toContainText('probe');
    await expect(row(reader, name).getByTitle('Deaktiviert')).toContainText('probe');
    await declare('1.1.0.0', 'enabled');
    await expect.poll(() => watchingAs(api, vm.id, 'en'), patient).toBe(enabledTimes(3));
    await expect(row(operator, name)).toContainText('Healthy');
  });

  await test.step('an uninstalled extension leaves the goal state, the machine and the lists', async () => {
    await api.call('DELETE', `/vms/${vm.id}/extensions/probe`, { status: 202 });
    await expect
      .poll(async () => (await api.goalState(vm.id)).extensions.map((extension) => extension.name), patient)
      .toEqual(['share']);
    expect(packagesOf(agent.dir)).toEqual([`${share}-2.0.0.0`]);
    await expect(row(operator, name).getByTitle('Healthy')).toHaveText(['share, Healthy']);
  });

  for (const page of [operator, reader]) expect(await isMarked(page), 'no page was loaded anew').toBe(true);
});

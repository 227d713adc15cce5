import type { Page } from '@playwright/test';
import { zipOf } from '../../../e2e/support/zip.ts';
import type { ScreenshotStage } from '../stage.ts';
import { button, choose, press, type Scene, type Subject, subject } from './subject.ts';

/** Handlers, their versions, and publishing. */
export function handlerPages(stage: ScreenshotStage): Subject[] {
  const draft = `/handlers/${stage.handler}/1.2.0.0`;
  return [
    subject('handlers-none', '/handlers?q=nothing-at-all'),
    subject('handler-demo', '/handlers/Northwind.Storage.Mount'),
    subject('handler-viewer', `/handlers/${stage.handler}`, undefined, { who: 'viewer' }),
    subject(
      'handler-withdraw',
      `/handlers/${stage.handler}`,
      choose(['packages:versions.acts', { version: '1.1.0.0' }], 'packages:act.withdraw'),
      { floats: true },
    ),
    subject('handler-table', `/handlers/${stage.handler}`, ({ page, say }) =>
      page.getByText(say('packages:adoption.table')).click(),
    ),
    subject('version-withdrawn', `/handlers/${stage.handler}/1.0.0.0`),
    subject('version-published', `/handlers/${stage.handler}/1.1.0.0`),
    subject('version-messages', draft, writeMessage),
    subject('version-xliff-export', draft, press('localization:xliff.export'), { floats: true }),
    subject('version-xliff-import', draft, importXliff, { floats: true }),
    subject(
      'version-publish',
      draft,
      ({ page, say }) => button(page, say('packages:publish.act', { version: '1.2.0.0' })).click(),
      { floats: true },
    ),
    subject('compare-other', `/handlers/${stage.handler}/compare?a=1.0.0.0&b=1.1.0.0`),
    subject('publish-named', '/publish', ({ page }) => givePackage(page)),
    subject('publish-faults', '/publish', async ({ page, say }) => {
      await givePackage(page);
      await button(page, say('packages:name.send')).click();
      await page.getByRole('alert').first().waitFor();
    }),
    subject('publish-viewer', '/publish', undefined, { who: 'viewer' }),
  ];
}

async function writeMessage({ page, say }: Scene): Promise<void> {
  const missing = page.getByRole('button', { name: say('localization:cell', { lang: 'de', id: 'target_reached' }) });
  await missing.click();
  await page
    .getByLabel(say('localization:cell', { lang: 'de', id: 'target_reached' }))
    .fill('{0} ist erreichbar, {3}.');
}

async function importXliff(scene: Scene): Promise<void> {
  const { page, say, stage } = scene;
  const address = `/upload/handlers/${stage.handler}/versions/1.2.0.0/resources/de.xlf?xliff=1.2`;
  const text = await page.evaluate(async (from) => (await fetch(from)).text(), address);
  const units = /<trans-unit id="target_reached"(.*?)<\/source>/s;
  const back = text.replace(units, (unit) => `${unit}<target>{0} ist erreicht.</target>`);
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'back.xlf', mimeType: 'application/xliff+xml', buffer: Buffer.from(back) });
  await page.getByRole('dialog', { name: say('localization:xliff.title', { lang: 'de' }) }).waitFor();
}

/** Selects a zip whose manifest has several errors. */
async function givePackage(page: Page): Promise<void> {
  const handlerManifest = {
    installCommand: 'bin/install.sh',
    updateCommand: '../elsewhere/update.sh',
    reportHeartbeat: 'yes',
  };
  const buffer = await zipOf({
    'HandlerManifest.json': JSON.stringify([{ version: 1, handlerManifest }], null, 2),
    'bin/install.sh': '#!/bin/sh\r\nexit 0\r\n',
  });
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'Studio.Lab.Broken-1.0.0.0.zip', mimeType: 'application/zip', buffer });
}

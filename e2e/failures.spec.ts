import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { agentProgram } from '#server/testing/agent-program.ts';
import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import type { Api, CreatedVm, InstanceView } from './support/api.ts';
import { withDatabase } from './support/database.ts';
import { expect, test } from './support/test.ts';
import { zipOf } from './support/zip.ts';

/** Scripts of the enable command. Every other command of the handler succeeds without doing anything. */
const misbehaviours = {
  Exits: 'i=0; while [ $i -lt 1200 ]; do i=$((i + 1)); echo "step $i"; done; echo "no such volume: sdz" >&2; exit 17',
  Hangs: 'echo "waiting for the licence server"; sleep 300',
  Silent: 'echo "started, and says nothing more"',
};
type Misbehaviour = keyof typeof misbehaviours;

async function publish(api: Api, namespace: string): Promise<void> {
  await api.ensurePublisher(namespace);
  const commands = ['install', 'enable', 'disable', 'update', 'uninstall'];
  for (const [type, enable] of Object.entries(misbehaviours)) {
    const handlerManifest = {
      ...Object.fromEntries(commands.map((command) => [`${command}Command`, `./handler.sh ${command}`])),
      rebootAfterInstall: false,
      reportHeartbeat: false,
    };
    const zip = await zipOf({
      'HandlerManifest.json': JSON.stringify([{ version: 1.0, handlerManifest }]),
      'handler.sh': `#!/bin/sh\n[ "$1" != enable ] || {\n${enable}\n}\n`,
    });
    await api.publish(`${namespace}.${type}`, '1.0.0.0', zip);
  }
}

/** Waits until `is` returns true for all extensions of a VM. */
const settled = (api: Api, vm: CreatedVm, is: (extension: InstanceView['extensions'][number]) => boolean) =>
  expect
    .poll(async () => (await api.instanceView(vm.id)).extensions.every(is), { intervals: [100], timeout: 20_000 })
    .toBe(true);

const why = (page: Page, title: string) => page.getByRole('region', { name: title });

test('failures of three misbehaving handlers are explained in two languages, with their output', {
  tag: '@long',
}, async ({ signedIn, api, portal, startAgent, unique }) => {
  const namespace = `Faulty${unique}`;
  await publish(api, namespace);
  const given = async (type: Misbehaviour) => {
    const vm = await api.createVm(`${type.toLowerCase()}-${unique}`);
    await api.call('PUT', `/vms/${vm.id}/extensions/volume`, {
      body: { handler: `${namespace}.${type}`, version: '1.0.0.0', state: 'enabled', timeouts: { enable: 2 } },
    });
    return vm;
  };
  const [exits, hangs, silent] = [await given('Exits'), await given('Hangs'), await given('Silent')];
  const [, , silentAgent] = await Promise.all([exits, hangs, silent].map(startAgent));
  const [english, german] = [await signedIn('operator'), await signedIn('operator', { locale: 'de-DE' })];

  // Moves the third extension's delivery an hour into the past, so that the test need not wait for a deadline.
  await settled(api, silent, ({ handlerState }) => handlerState?.state === 'enabled');
  await withDatabase(portal, async (client) => {
    await client.query(`update extensions set delivered_at = now() - interval '1 hour' where vm_id = $1`, [silent.id]);
    await client.query(`update health_checks set due_at = 'epoch' where vm_id = $1`, [silent.id]);
  });
  for (const vm of [exits, hangs, silent]) await settled(api, vm, ({ health }) => health === 'failed');

  const explanations: [CreatedVm, en: string, de: string, output: string][] = [
    [
      exits,
      'volume failed: enable ended with exit code 17.',
      'volume ist fehlgeschlagen: enable endete mit Exitcode 17.',
      'no such volume: sdz',
    ],
    [
      hangs,
      'volume failed: enable timed out.',
      'volume ist fehlgeschlagen: enable hat das Zeitlimit überschritten.',
      'waiting for the licence server',
    ],
    [
      silent,
      'volume missed its deadline: enable ended, but no status was reported.',
      'volume hat die Frist überschritten: enable ist beendet, aber es wurde kein Status gemeldet.',
      'started, and says nothing more',
    ],
  ];
  for (const [vm, en, de, output] of explanations) {
    await Promise.all([english.goto(`/vms/${vm.id}`), german.goto(`/vms/${vm.id}`)]);
    await expect(why(english, 'Why the VM isn’t done')).toContainText(en);
    await expect(why(german, 'Warum ist die VM nicht fertig?')).toContainText(de);
    await why(english, 'Why the VM isn’t done').getByRole('link', { name: 'Show output' }).click();
    await why(german, 'Warum ist die VM nicht fertig?').getByRole('link', { name: 'Ausgabe anzeigen' }).click();
    await expect(english.getByRole('region', { name: 'Output of volume enable' })).toContainText(output);
    await expect(german.getByRole('region', { name: 'Ausgabe von volume enable' })).toContainText(output);
  }
  await expectAccessible(german);

  // The whole output is much larger than a report allows. The page shows the line with the error.
  await english.goto(`/vms/${exits.id}?tab=output`);
  await expect(english.getByText('First error, line 1,201')).toBeVisible();
  await expect(english.getByText('Lines 1,001 to 1,201 of 1,201')).toBeVisible();
  await english.getByRole('searchbox', { name: /Output of volume enable/ }).fill('step 777');
  await english.getByRole('button', { name: 'Search', exact: true }).click();
  await english.getByRole('button', { name: /^777 step 777$/ }).click();
  await expect(english.getByText('Lines 501 to 1,000 of 1,201')).toBeVisible();
  // AZ-G11: the portal gets the log folder without anyone signing in to the machine.
  await english.getByRole('button', { name: `Request logs of ${namespace}.Exits` }).click();
  const archive = english.getByRole('link', { name: `Download the logs of ${namespace}.Exits` });
  await expect(archive).toBeVisible();
  const [download] = await Promise.all([english.waitForEvent('download'), archive.click()]);
  expect(download.suggestedFilename()).toMatch(/\.Exits-logs-.*\.zip$/);
  await expectAccessibleInBothThemes(english);

  await expectCloneIsReported(english, silent, silentAgent?.dir ?? '');
});

/** Expects that a second machine with a copied disk is rejected and that the page says what to do. */
async function expectCloneIsReported(page: Page, vm: CreatedVm, dir: string): Promise<void> {
  const clone = mkdtempSync(path.join(tmpdir(), 'annex-clone-'));
  try {
    for (const name of ['agent.json', 'credential', 'certificates']) {
      cpSync(path.join(dir, name), path.join(clone, name), { recursive: true });
    }
    // Sets the counter back, as if the disk had been copied before the machine's latest calls.
    const { instance } = JSON.parse(readFileSync(path.join(dir, 'state', 'calls.json'), 'utf8')) as {
      instance: string;
    };
    mkdirSync(path.join(clone, 'state'));
    writeFileSync(path.join(clone, 'state', 'calls.json'), JSON.stringify({ instance, counter: 1 }));
    const once = [agentProgram(), 'once', '--dir', clone, '--waagent-folder', 'none'];
    await promisify(execFile)(process.execPath, once).catch(() => {});
    await page.goto(`/vms/${vm.id}`);
    await expect(page.getByText(`A second machine identified itself as ${vm.name}`)).toBeVisible();
    await page.getByRole('button', { name: 'New enrollment token' }).click();
    await page.getByRole('button', { name: 'Create token' }).click();
    await expect(page.getByRole('dialog')).toContainText('Enrollment token for');
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
}

import type { ScreenshotStage } from '../stage.ts';
import { button, type Scene, type Subject, subject, vmAddress } from './subject.ts';

/** The editor of an extension. */
export function editorPages(stage: ScreenshotStage): Subject[] {
  const vm = (name: string, rest = '') => vmAddress(stage, name, rest);
  const failed = vmAddress(stage, 'files-1');
  const past = vmAddress(stage, 'past-1');
  return [
    subject('editor-new', `${failed}/add-extension?handler=Northwind.Storage.Mount`),
    subject('editor-plan', `${past}/extensions/share`, changeSettings),
    subject('editor-diff', `${past}/extensions/share`, async (scene) => {
      await changeSettings(scene);
      await scene.page.getByRole('radio', { name: scene.say('editor:changes.json'), exact: true }).click();
    }),
    subject('editor-fault', `${past}/extensions/share`, async (scene) => replaceJson(scene, '{ "server": 3, "user": ')),
    subject('editor-secret', `${past}/extensions/share`, async ({ page, say }) =>
      page
        .getByRole('button')
        .filter({ hasText: say('editor:protected.changeOne') })
        .first()
        .click(),
    ),
    subject('editor-conflict', `${past}/extensions/snapshots`, conflict),
    subject('editor-withdrawn', vm('web-1', '/extensions/studio')),
    subject(
      'editor-leave',
      `${past}/extensions/share`,
      async (scene) => {
        await changeSettings(scene);
        await scene.page.getByRole('link', { name: scene.say('editor:foot.discard') }).click();
      },
      { floats: true },
    ),
    subject('editor-viewer', `${past}/extensions/share`, undefined, { who: 'viewer' }),
  ];
}

async function replaceJson({ page, say }: Scene, text: string): Promise<void> {
  await page.getByRole('textbox', { name: say('editor:json.label') }).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

async function changeSettings(scene: Scene): Promise<void> {
  await replaceJson(scene, '{ "server": "three.example.net", "user": "backup", "reachable": false }');
  await scene.page.getByRole('region', { name: scene.say('editor:plan.steps') }).waitFor();
}

/** Changes the same goal through the API while the form has unsaved changes. */
async function conflict(scene: Scene): Promise<void> {
  const { page, say, stage } = scene;
  await replaceJson(scene, '{ "retain": 14 }');
  const at = `/vms/${stage.vms['past-1']}/extensions/snapshots`;
  const { publicSettings } = await stage.api<{ publicSettings: { retain?: number } }>('GET', at);
  const settings = { publicSettings: { retain: (publicSettings.retain ?? 0) === 7 ? 8 : 7 } };
  const goal = {
    handler: 'Northwind.Backup.Snapshot',
    version: '1.2.0.0',
    state: 'enabled',
    dependsOn: ['share'],
    settings,
  };
  await stage.api('PUT', at, goal);
  await button(page, say('editor:live.compare')).click();
}

import type { ScreenshotStage } from '../stage.ts';
import { button, press, type Scene, type Subject, type SubjectAct, subject } from './subject.ts';

/** The form of a rollout, and acts on all VMs of a list. */
export function rolloutForms({ rollouts, runbook }: ScreenshotStage): Subject[] {
  const at = (id: string | undefined) => `/rollouts/${id}/edit`;
  const form = (name: string, act: SubjectAct = async () => {}, rest: Partial<Subject> = {}) =>
    subject(
      `rollout-form-${name}`,
      at(rollouts.planned),
      async (scene) => {
        await planned(scene);
        await act(scene);
      },
      rest,
    );
  return [
    subject('rollout-form-empty', '/rollouts/new'),
    subject('rollout-form-viewer', '/rollouts/new', undefined, { who: 'viewer' }),
    subject('rollout-form-started', at(rollouts.stored.moving)),
    subject('rollout-form-stopped', at(rollouts.stored.stopped)),
    subject('rollout-form-run', at(rollouts.runPlanned), planned),
    subject('rollout-form-run-new', `/rollouts/new?runbook=${runbook}`),
    form('plan'),
    form('windows', async (scene) => {
      await button(scene.page, scene.say('rollouts:new.window.add')).click();
      await planned(scene);
    }),
    form('gates', async (scene) => {
      const { page, say } = scene;
      await page
        .getByRole('group', { name: say('rollouts:new.gates.perRing') })
        .getByRole('button')
        .first()
        .click();
      await planned(scene);
    }),
    form('json', async ({ page }) => {
      await page.getByRole('radio', { name: 'JSON', exact: true }).first().click();
      await page.locator('.cm-content').waitFor();
    }),
    form('fault', async ({ page, say }) => {
      await page.getByLabel(say('rollouts:new.ring.limit', { name: 'first' })).fill('60');
      await page.getByText(/./).and(page.locator('[role=alert], .text-danger-text')).first().waitFor();
    }),
    form(
      'vms',
      async ({ page, say }) => {
        await page
          .getByRole('region', { name: say('rollouts:new.plan'), exact: true })
          .getByRole('button', { name: '24' })
          .last()
          .click();
        await page.getByRole('dialog').getByRole('row').nth(2).waitFor();
      },
      { floats: true },
    ),
    form('strategy', press('rollouts:new.strategy.save'), { floats: true }),
    ...bulkActs(),
  ];
}

/** The number of VMs of the pictures' fleet. */
const fleet = { count: 24, n: '24' };

function bulkActs(): Subject[] {
  const bulk: SubjectAct = async ({ page, say }) => {
    await page.getByRole('button', { name: say('vms:bulk.selectAll', fleet) }).click();
    await page.getByRole('region', { name: say('rollouts:bulk.label') }).waitFor();
  };
  const act =
    (name: 'disable' | 'run' | 'set') =>
    ({ page, say }: Scene) =>
      button(page, say(`rollouts:bulk.act.${name}`)).click();
  const list = '/vms?tag=fleet%3Dpictures';
  const mounts = `${list}&handler=Northwind.Storage.Mount`;
  return [
    subject('bulk-bar', list, bulk, { floats: true }),
    subject('bulk-viewer', list, undefined, { who: 'viewer', floats: true }),
    subject(
      'bulk-dialog',
      mounts,
      async (scene) => {
        await bulk(scene);
        await act('disable')(scene);
        await planned(scene);
      },
      { floats: true },
    ),
    ...(['run', 'set'] as const).map((name) =>
      subject(
        `bulk-${name}`,
        mounts,
        async (scene) => {
          await bulk(scene);
          await act(name)(scene);
          await scene.page.getByRole('dialog').waitFor();
        },
        { floats: true },
      ),
    ),
  ];
}

/** Waits for the plan of a rollout's form. */
const planned: SubjectAct = ({ page, say }) =>
  page.getByText(say('rollouts:new.plan.ready')).first().waitFor({ state: 'attached', timeout: 30_000 });

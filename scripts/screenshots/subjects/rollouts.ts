import type { ScreenshotStage } from '../stage.ts';
import { button, press, type Subject, type SubjectAct, subject, vmAddress } from './subject.ts';

/** Rollouts: the list, and the page of each state. */
export function rolloutPages(stage: ScreenshotStage): Subject[] {
  const { rollouts, handler, vms } = stage;
  const { stored } = rollouts;
  const at = (id: string | undefined) => `/rollouts/${id}`;
  return [
    subject('rollouts-none', '/rollouts?q=nothing-at-all'),
    subject('rollouts-viewer', '/rollouts', undefined, { who: 'viewer' }),
    subject('rollouts-disconnected', '/rollouts', disconnect),
    subject('rollouts-failed', '/rollouts', failList),
    subject('rollouts-map', `/?rollout=${rollouts.running}`),
    subject('rollouts-of-vm', `/vms/${vms['ring-1']}`),
    subject('rollouts-version', vmAddress(stage, 'web-1'), askVersion, { floats: true }),
    subject('rollouts-handler', `/handlers/${handler}`),
    subject('rollouts-executions', `/executions?rollout=${rollouts.run}`),
    subject('rollout-running', at(rollouts.running)),
    subject('rollout-paused', at(rollouts.paused)),
    subject('rollout-paused-viewer', at(rollouts.paused), undefined, { who: 'viewer' }),
    subject('rollout-planned', at(rollouts.planned)),
    subject('rollout-run', at(rollouts.run)),
    subject('rollout-checking', at(rollouts.planned), checking),
    ...Object.entries(stored).map(([state, id]) => subject(`rollout-${state}`, at(id))),
    subject('rollout-halted-viewer', at(stored.halted), undefined, { who: 'viewer' }),
    subject('rollout-halted-disconnected', at(stored.halted), disconnect),
    subject('rollout-halted-cards-failed', at(stored.halted), failCards),
    subject('rollout-halted-table', at(stored.halted), async ({ page, say }) => {
      const tables = page.getByRole('button', { name: say('rollouts:live.cells.table'), exact: true });
      for (const index of [1, 0]) await tables.nth(index).click();
    }),
    ...dialogs(stage),
  ];
}

/** The dialogs of a rollout's acts. */
function dialogs({ rollouts: { stored, planned } }: ScreenshotStage): Subject[] {
  const dialog = (name: string, id: string | undefined, act: SubjectAct) =>
    subject(`rollout-act-${name}`, `/rollouts/${id}`, act, { floats: true });
  const more =
    (entry: RegExp): SubjectAct =>
    async ({ page, say }) => {
      await button(page, say('rollouts:act.more')).click();
      await page.getByRole('menuitem', { name: entry }).first().click();
    };
  const tenth: SubjectAct = ({ page, say }) => button(page, say('rollouts:act.revertRing', { ring: 'tenth' })).click();
  return [
    dialog('resume', stored.halted, press('rollouts:act.resumeDespite')),
    dialog('revert', stored.halted, tenth),
    dialog('more', stored.halted, press('rollouts:act.more')),
    dialog('pause', stored.moving, press('rollouts:act.pause')),
    dialog('advance', stored.baking, more(/all/)),
    dialog('approve', stored.approval, press('rollouts:act.approve')),
    dialog('reject', stored.approval, async (scene) => {
      await press('rollouts:act.reject')(scene);
      await scene.page
        .getByRole('alertdialog')
        .getByRole('button', { name: scene.say('rollouts:act.reject') })
        .click();
    }),
    dialog('start', planned, ({ page, say }) => {
      const name = say('rollouts:act.start', { count: 2, n: '2' }).replace('2', '\\d+');
      return page
        .getByRole('button', { name: new RegExp(name) })
        .first()
        .click();
    }),
    dialog('close', stored.keeping, press('rollouts:act.close')),
  ];
}

/** Plans the rollout again, and shows the result as if the portal compared the plan with the VMs. */
const checking: SubjectAct = async ({ page, say, stage: { api, rollouts } }) => {
  await page.route('**/api/trpc/**rollouts.get**', async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    await route.fulfill({ response, body: text.replaceAll('"state":"planned"', '"state":"checking"') });
  });
  await api('POST', `/rollouts/${rollouts.planned}/plan?wait=30`);
  await page.getByText(say('rollouts:state.checking')).first().waitFor();
};

/** Asks why the first extension has its version. */
const askVersion: SubjectAct = async ({ page, say }) => {
  const words = say('reports:card.whyVersion.named', { version: '1.0.0.0', name: 'studio' });
  await button(page, words).click();
  await page.getByRole('dialog').getByRole('listitem').first().waitFor();
};

/** Reloads the page without its live connection, and waits until the page says so. */
const disconnect: SubjectAct = async ({ page, say }) => {
  await page.route('**/api/trpc/live**', (route) => route.abort());
  await page.reload();
  await page.getByText(say('navigation:live.lost')).first().waitFor({ timeout: 30_000 });
};

/** Reloads the page so that every card that loads later fails. */
const failCards: SubjectAct = async ({ page }) => {
  await page.route('**/api/trpc/rollouts.**', (route) => route.abort());
  await page.reload();
  await page.locator('[role=alert], [data-st=failed]').first().waitFor();
};

/** Searches while the list cannot be loaded. */
const failList: SubjectAct = async ({ page, say }) => {
  await page.route('**/api/trpc/rollouts.**', (route) => route.abort());
  await page.getByRole('searchbox', { name: say('rollouts:list.search') }).fill('mount');
  await page.getByRole('alert').first().waitFor({ timeout: 30_000 });
};

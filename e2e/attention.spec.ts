import type { Page } from '@playwright/test';
import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import type { Api, CreatedVm } from './support/api.ts';
import { expect, test } from './support/test.ts';

/** Agents install, run scripts and report, which takes seconds on an idle machine and longer on a busy machine. */
const patient = { timeout: 30_000 };

const problem = (page: Page) =>
  page
    .getByRole('listitem')
    .filter({ hasText: /Attention\.\w+\.Mount/ })
    .locator('[data-triage-row]')
    .first();
const snoozed = (page: Page) => page.getByRole('region', { name: 'Snoozed' });
const panel = (page: Page) => page.getByRole('region', { name: /^Details of/ });
const detailsOf = (page: Page, { name }: CreatedVm) =>
  page.getByRole('button', { name: new RegExp(`^Details of ${name}:`) });
const menuOf = (page: Page, act: 'Assign' | 'Snooze') =>
  page.getByRole('button', { name: new RegExp(`^${act} (Attention|Failed to establish)`) });

/** Creates VMs with an extension that fails: its share cannot be mounted, so its command exits with 51. */
async function givenFailing(
  api: Api,
  startAgent: (vm: CreatedVm) => Promise<unknown>,
  names: readonly string[],
  unique: string,
): Promise<CreatedVm[]> {
  const handler = `Attention.${unique.replaceAll('-', '')}.Mount`;
  await api.publishSample('Northwind.Storage.Mount', '2.0.0.0', handler);
  const vms: CreatedVm[] = [];
  for (const name of names) {
    const vm = await api.createVm(name, { region: 'ap' });
    await api.setExtension(vm.id, 'share', {
      handler,
      version: '2.0.0.0',
      settings: {
        publicSettings: { server: 'down.example.net', user: 'backup', reachable: false },
        protectedSettings: { password: 'not for the eyes of many' },
      },
    });
    await startAgent(vm);
    vms.push(vm);
  }
  return vms;
}

// The page groups all problems of a portal, so other tests must not add any.
test.use({ portalGroup: 'attention' });

test('problems are found, reviewed one by one, assigned and snoozed without leaving the page', async ({
  api,
  signedIn,
  startAgent,
  unique,
}) => {
  test.setTimeout(120_000);
  const page = await signedIn('operator');
  await page.goto('/attention');
  await expect(page.getByRole('heading', { name: 'No problems' })).toBeVisible();
  await expectAccessible(page);

  const [first, second] = await givenFailing(api, startAgent, [`a-${unique}`, `b-${unique}`], unique);
  if (!first || !second) throw new Error('two VMs were created');
  const count = page.getByRole('main').getByRole('link', { name: '2 VMs', exact: true });
  await expect(count).toBeVisible(patient);
  await expect(page.getByRole('link', { name: /^Needs attention 1 problem$/ })).toBeVisible();

  await problem(page).click();
  await detailsOf(page, first).click();
  await expect(panel(page)).toContainText('exit code 51', patient);
  await expect(panel(page).getByRole('heading', { name: 'Output' })).toBeVisible();
  await expect(panel(page)).toContainText('1 of 2');
  await expectAccessibleInBothThemes(page);
  await page.keyboard.press(']');
  await expect(panel(page)).toContainText(second.name);
  await page.keyboard.press('[');
  await expect(panel(page)).toContainText(first.name);
  await page.keyboard.press('Escape');
  await expect(panel(page)).toBeHidden();
  await page.keyboard.press('k');
  await page.keyboard.press('j');
  await expect(detailsOf(page, first).or(detailsOf(page, second)).and(page.locator(':focus'))).toBeVisible();

  const viewer = await signedIn('viewer');
  await viewer.goto('/attention');
  await problem(viewer).click();
  await detailsOf(viewer, first).click();
  await expect(panel(viewer)).toContainText('exit code 51', patient);
  await expect(panel(viewer).getByRole('heading', { name: 'Output' }), 'only operators read outputs').toHaveCount(0);
  await expect(viewer.getByRole('button', { name: /^(Assign|Snooze|Try again)/ })).toHaveCount(0);

  await menuOf(page, 'Assign').click();
  await page.getByRole('menuitem', { name: 'Assign to me' }).click();
  await expect(page.getByText('Assigned to Operator', { exact: true }).first()).toBeVisible();
  await menuOf(page, 'Snooze').click();
  await page.getByRole('menuitem', { name: 'Until the problem changes' }).click();
  await expect(page.getByRole('heading', { name: 'Every problem is snoozed' })).toBeVisible();
  await expect(snoozed(page)).toContainText('Snoozed by Operator until the problem changes');
  await expectAccessible(page);

  await viewer.goto('/activity');
  const act = viewer.getByRole('listitem').filter({ hasText: /^.*Operator snoozed the problem Attention/ });
  await act.getByRole('link', { name: /enable 51$/ }).click();
  await expect(detailsOf(viewer, first)).toBeVisible();
});

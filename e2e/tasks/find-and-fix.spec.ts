import { expectAccessibleInBothThemes } from '../support/accessibility.ts';
import { countClicks } from '../support/clicks.ts';
import { expectListedAsFailed, failingVm, mount, settled } from '../support/failing-vm.ts';
import { publishSamples, sampleGoal } from '../support/samples.ts';
import { expect, test } from '../support/test.ts';

test.beforeAll(({ api }) => publishSamples(api, [mount]));

test('find and fix: from the overview to the failing VM, its reason and its editor', { tag: '@long' }, async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const { vm } = await failingVm(api, startAgent, `broken-${unique}`);
  await expectListedAsFailed(api, vm);
  const page = await signedIn('operator');
  await page.goto('/');

  const clicks = await countClicks(page);
  await page
    .getByRole('link', { name: /Failed/ })
    .first()
    .click();
  await expect(page).toHaveURL(/health=failed/);
  await page.getByRole('table').getByRole('link', { name: vm.name, exact: true }).click();
  const why = page.getByRole('region', { name: 'Why the VM isn’t done' });
  await expect(why).toContainText('share failed: enable ended with exit code 51.');
  await why.getByRole('link', { name: 'Edit share' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('share');
  await clicks.expectAtMost('find and fix', 3);
});

test('try again: one click next to the reason, recorded as an action of that person', { tag: '@long' }, async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const { vm, agent } = await failingVm(api, startAgent, `again-${unique}`);
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  const why = page.getByRole('region', { name: 'Why the VM isn’t done' });
  const again = why.getByRole('button', { name: 'Try again' });
  await expect(again).toBeVisible(settled);
  await agent.stop();

  const clicks = await countClicks(page);
  await again.click();
  await expect(page.getByText('Retry of share requested', { exact: true })).toBeVisible();
  await clicks.expectAtMost('try again', 1);
  await expect(why).toContainText('Retry requested. The agent will start the retry after its next poll.');
  const { extensions } = await api.instanceView(vm.id);
  expect(extensions[0]).toMatchObject({ goalSequenceNumber: 2 });
  agent.resume();
  await expect(why).not.toContainText('Retry requested', settled);
  await expect(again).toBeVisible(settled);
  await page.goto(`/vms/${vm.id}?tab=activity`);
  await expect(page.getByText('Operator retried share', { exact: false })).toBeVisible();
});

test('try again from the list of VMs: one click', { tag: '@long' }, async ({ signedIn, api, startAgent, unique }) => {
  const { vm, agent } = await failingVm(api, startAgent, `listed-${unique}`);
  await expectListedAsFailed(api, vm);
  await agent.stop();
  const page = await signedIn('operator');
  await page.goto(`/vms?q=${vm.name}`);
  const again = page.getByRole('button', { name: `Try again: share on ${vm.name}` });
  await expect(again).toBeVisible();

  const clicks = await countClicks(page);
  await again.click();
  await expect(page.getByText(`Retry of share on ${vm.name} requested`, { exact: true })).toBeVisible();
  await clicks.expectAtMost('try again from the list', 1);
  await expect(page).toHaveURL(`/vms?q=${vm.name}`);
});

test('retries repeat at an interval until someone cancels them', { tag: '@long' }, async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const { vm, agent } = await failingVm(api, startAgent, `repeat-${unique}`);
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  const why = page.getByRole('region', { name: 'Why the VM isn’t done' });
  await expect(why.getByRole('button', { name: 'Try again' })).toBeVisible(settled);
  await agent.stop();

  await why.getByRole('button', { name: 'Retry repeatedly…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Retry share repeatedly' });
  await dialog.getByLabel('Minutes between retries').fill('0');
  await dialog.getByRole('button', { name: 'Start retries' }).click();
  await expect(dialog).toContainText('Enter a whole number from 1 to 1,440.');
  await dialog.getByLabel('Minutes between retries').fill('30');
  await dialog.getByLabel('Maximum number of further retries').fill('3');
  await expectAccessibleInBothThemes(page);
  await dialog.getByRole('button', { name: 'Start retries' }).click();
  await expect(dialog).toHaveCount(0);
  const card = page.getByRole('article', { name: 'share' });
  await expect(card).toContainText(/Next retry at [\d:]+ \(1 of 3\)\. Retries were started by Operator/);
  await expectAccessibleInBothThemes(page);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await card.getByRole('button', { name: 'Cancel the retries of share' }).click();
  await expect(card).not.toContainText('Next retry');
});

test('revert: back to the last goal state that worked', { tag: '@long' }, async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const vm = await api.createVm(`back-${unique}`);
  await api.setExtension(vm.id, 'share', sampleGoal(mount, { reachable: true }));
  await startAgent(vm);
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  await expect(page.getByText('1 extension, done')).toBeVisible(settled);
  await api.setExtension(vm.id, 'share', sampleGoal(mount, { reachable: false }));
  const why = page.getByRole('region', { name: 'Why the VM isn’t done' });
  const revert = why.getByRole('button', { name: /^Revert to \d+$/ });
  await expect(revert).toBeVisible(settled);

  const clicks = await countClicks(page);
  await revert.click();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByRole('button', { name: /^Revert to \d+$/ }).click();
  await expect(dialog).toHaveCount(0);
  await clicks.expectAtMost('revert', 3);
  await expect(page.getByText('1 extension, done')).toBeVisible(settled);
});

test('whole output: from the reason to every line that the command wrote', { tag: '@long' }, async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const { vm } = await failingVm(api, startAgent, `lines-${unique}`);
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  const why = page.getByRole('region', { name: 'Why the VM isn’t done' });
  const output = why.getByRole('link', { name: 'Show output' });
  await expect(output).toBeVisible(settled);

  const clicks = await countClicks(page);
  await output.click();
  await expect(page.getByText('First error, line 2')).toBeVisible();
  await clicks.expectAtMost('whole output', 2);
});

import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import { bootstrappedModel, createdModel } from './support/model.ts';
import { expect, test } from './support/test.ts';

/** The worker deletes what is marked every five seconds. */
const patience = { timeout: 30_000 };

test('a model is created, bootstrapped, gets a machine with a real agent, and is destroyed', async ({
  signedIn,
  startAgent,
  console,
  unique,
}) => {
  // The rejected name, and the model after its destruction.
  console.allow(/status of 422 .*models\.create|status of 404 .*(models|services)\./);
  const name = `lab-${unique}`;
  const page = await signedIn('admin');
  await page.goto('/vms');
  await page.keyboard.press('g');
  await page.keyboard.press('m');
  await expect(page.getByRole('heading', { level: 1, name: 'Models' })).toBeVisible();
  await page.getByRole('button', { name: 'New storage account' }).click();
  await page.getByLabel('Name').fill(`store${unique}`);
  await page.getByLabel('Location').fill('West Lab');
  await page.getByRole('button', { name: 'Create storage account' }).click();
  await expect(page.getByRole('region', { name: 'Storage accounts' }).getByText(`store${unique}`)).toBeVisible();
  await expectAccessibleInBothThemes(page);

  await page.getByRole('button', { name: 'New model' }).click();
  await page.getByLabel('Name').fill('Not a name');
  await page.getByLabel('Storage account', { exact: true }).selectOption(`store${unique}`);
  await expect(page.getByLabel('Location')).toHaveValue('West Lab');
  await page.getByRole('switch', { name: 'Availability sets' }).click();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Create model' }).click();
  await expect(page.getByLabel('Name')).toHaveAttribute('aria-invalid', 'true');
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create model' }).click();
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Needs attention' })).toContainText('Not bootstrapped');
  await page.getByRole('button', { name: 'Bootstrap' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Bootstrap' }).click();

  await page.getByRole('button', { name: 'Add machine' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Add machine' }).click();
  const once = page.getByRole('dialog', { name: 'The machine was added' });
  const command = await once.getByText('annex-agent enroll').textContent();
  const option = (of: string) => new RegExp(`--${of} (\\S+)`).exec(command ?? '')?.[1] ?? '';
  await expectAccessible(page);
  await once.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row', { name: `${name}-0` });
  await expect(row).toContainText('Not enrolled');
  await startAgent({
    enrollmentToken: option('token'),
    instanceId: option('instance-id'),
    internalAddress: option('internal-address'),
  });
  await expect(row).toContainText(/\b(ago|now)\b/, { ...patience, useInnerText: true });
  await expect(page.getByRole('region', { name: 'Needs attention' })).toBeHidden();
  await expectAccessibleInBothThemes(page);

  await page.getByRole('link', { name: /^1\s*Healthy$/ }).click();
  await expect(page.getByRole('link', { name: `${name}-0`, exact: true })).toBeVisible();
  await expect(page.getByRole('button', { name: `Remove the filter Model is ${name}` })).toBeVisible();
  await page.getByRole('link', { name: `${name}-0`, exact: true }).click();
  await expect(page.getByText(option('instance-id'))).toBeVisible();
  await page.getByRole('main').getByRole('link', { name, exact: true }).click();

  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Destroy model…' }).click();
  const question = page.getByRole('alertdialog', { name: `Destroy ${name}?` });
  await expect(question.getByRole('listitem')).toHaveText([
    '1 machine with its VM',
    '1 cloud service',
    `juju-${name}-vnet and juju-${name}-ag, unless they existed before the model`,
    `The model’s data in the storage account store${unique}`,
  ]);
  await expect(question.getByRole('button', { name: 'Destroy model' })).toBeDisabled();
  await question.getByLabel(`Type ${name} to continue`).fill(name);
  await question.getByRole('button', { name: 'Destroy model' }).click();
  await expect(page.getByRole('heading', { name: `${name} no longer exists` })).toBeVisible(patience);

  await page.goto('/models');
  await page.getByRole('button', { name: `Delete store${unique}` }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete storage account' }).click();
  await expect(page.getByRole('button', { name: `Delete store${unique}` })).toBeHidden();
});

test('with availability sets, controllers share a cloud service, and the page says why no machine can be added', async ({
  signedIn,
  api,
  unique,
}) => {
  const name = await createdModel(api, `sets-${unique}`, { availabilitySetsEnabled: true });
  const page = await signedIn('operator');
  await page.goto(`/models/${name}`);
  await page.getByRole('button', { name: 'Bootstrap' }).first().click();
  await page.getByRole('dialog').getByLabel('Controllers').selectOption('2');
  await page.getByRole('dialog').getByRole('button', { name: 'Bootstrap' }).click();
  const once = page.getByRole('dialog', { name: '2 machines were added' });
  await expect(once.getByText('annex-agent enroll')).toHaveCount(2);
  await once.getByRole('button', { name: 'Done' }).click();
  await expect(
    page.getByText('cannot add a new machine: unit placement is not supported with availability-sets-enabled'),
  ).toBeVisible();
  await expect(page.getByRole('button', { name: 'Add machine' })).toHaveCount(0);
  const production = page
    .getByRole('region', { name: 'Controllers' })
    .getByRole('region', { name: 'Production' })
    .first();
  await expect(production).toContainText('Availability set juju: 2 roles, covered by the 99.95% agreement');
  await expect(production).toContainText('api17070/tcp, 2 members');
  await expectAccessibleInBothThemes(page);

  await page.getByRole('button', { name: 'Swap…' }).click();
  const swap = page.getByRole('dialog', { name: 'Swap Production and Staging?' });
  await expect(swap.getByRole('region', { name: 'After the swap' })).toHaveText(
    new RegExp(`ProductionEmpty.*Staging${name}-0${name}-1`),
  );
  await expect(swap).toContainText(/17070\/tcp.* no longer public/);
  await expectAccessible(page);
  await swap.getByRole('button', { name: 'Swap now' }).click();
  const staging = page.getByRole('region', { name: 'Controllers' }).getByRole('region', { name: 'Staging' }).first();
  await expect(staging).toContainText('Production is empty');
  await expect(staging).toContainText('Staging has no public address');
  await page.getByRole('link', { name: 'Availability set juju: 2 roles' }).click();
  await expect(page.getByRole('link', { name: new RegExp(`^${name}-[01]$`) })).toHaveCount(2);

  const viewer = await signedIn('viewer');
  await viewer.goto(`/models/${name}`);
  await expect(viewer.getByRole('region', { name: 'Needs attention' })).toContainText('An operator must run');
  await expect(viewer.getByRole('button', { name: /More actions|Actions on/ })).toHaveCount(0);
  await viewer.goto('/models');
  await expect(viewer.getByRole('link', { name, exact: true })).toBeVisible();
  await expect(viewer.getByRole('button', { name: 'New model' })).toHaveCount(0);
});

test('JU-37 an enrolled VM is adopted into a model on its page, and given back', async ({
  signedIn,
  startAgent,
  api,
  unique,
}) => {
  const model = await bootstrappedModel(api, `home-${unique}`);
  const vm = await api.createVm(`guest-${unique}`);
  await startAgent(vm);
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Adopt into a model…' }).click();
  const dialog = page.getByRole('dialog', { name: `Adopt ${vm.name} into a model` });
  await dialog.getByRole('combobox', { name: 'Model' }).selectOption(model);
  await expect(dialog.getByText(`Units of ${model} can be placed on it.`)).toBeVisible();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Adopt VM' }).click();
  await expect(page.getByText(`${vm.name} is now machine 0 of ${model}`, { exact: true })).toBeVisible();
  await expect(page.getByRole('main').getByRole('link', { name: model, exact: true })).toBeVisible();

  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Give back…' }).click();
  const question = page.getByRole('alertdialog', { name: `Give back ${vm.name}?` });
  await expect(question).toContainText('Its name, tags, agent and extensions stay as they are.');
  await question.getByRole('button', { name: 'Give back VM' }).click();
  await expect(page.getByRole('main').getByRole('link', { name: model, exact: true })).toBeHidden(patience);
  await expect(page.getByRole('heading', { level: 1, name: vm.name })).toBeVisible();
});

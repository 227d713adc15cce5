import type { Locator, Page } from '@playwright/test';
import { publishSamples, sampleGoal } from './support/samples.ts';
import { expect, test } from './support/test.ts';

const probe = 'Acme.Lab.Probe';

test.beforeAll(({ api }) => publishSamples(api, [probe]));

/** A form that is open, and what a reader has typed. */
interface OpenForm {
  dialog: Locator;
  field: Locator;
  typed: string;
  /** Name of the button that saves. */
  act: string;
  /** The tRPC procedure or the path that saves. */
  saves: string;
}

/** Holds back the requests that save, until `go` is called. `count` is the number of requests so far. */
async function held(page: Page, { saves }: OpenForm) {
  const gate = Promise.withResolvers<void>();
  const requests = { count: 0, go: () => gate.resolve() };
  await page.route(
    (url) => url.pathname.endsWith(saves),
    async (route) => {
      requests.count += 1;
      await gate.promise;
      await route.continue();
    },
  );
  return requests;
}

/** Loses the connection while the form is saved, tries again, and expects that two clicks save once. */
async function expectKeptAndSavedOnce(page: Page, form: OpenForm): Promise<void> {
  const { dialog, field, typed, act, saves } = form;
  const button = dialog.getByRole('button', { name: act, exact: true });
  const failure = dialog.getByText('The portal cannot be reached.');
  await page.route(
    (url) => url.pathname.endsWith(saves),
    (route) => route.abort(),
  );
  await field.fill(typed);
  await field.press('Enter');
  await expect(failure).toBeVisible();
  await expect(field).toHaveValue(typed);
  await field.press('End');
  await page.keyboard.type('1');
  await expect(failure, 'an edit drops the error of the last attempt').toHaveCount(0);
  await page.keyboard.press('Backspace');
  await page.unrouteAll();

  const requests = await held(page, form);
  await button.dblclick();
  await field.press('Enter');
  await expect.poll(() => requests.count).toBe(1);
  requests.go();
  await expect(dialog.getByRole('button', { name: act, exact: true })).toHaveCount(0);
  expect(requests.count, 'two clicks and Enter save once').toBe(1);
  await page.unrouteAll();
}

test.describe('forms keep what was typed after a failure, and two clicks save once', () => {
  test.beforeEach(({ console }) => console.allow(/net::ERR_FAILED/));

  test('a new VM, its name, its hold', async ({ signedIn, api, unique }) => {
    const page = await signedIn('operator');
    const dialog = page.getByRole('dialog');
    await page.goto('/vms');
    await page.getByRole('button', { name: 'Enroll a VM' }).first().click();
    await expectKeptAndSavedOnce(page, {
      dialog,
      field: dialog.getByLabel('Name'),
      typed: `form-${unique}`,
      act: 'Create VM',
      saves: 'vms.create',
    });
    await dialog.getByRole('link', { name: `Open form-${unique}` }).click();
    await expect(page.getByRole('heading', { level: 1, name: `form-${unique}` })).toBeVisible();
    const { items } = await api.call<{ items: { name: string }[] }>('GET', `/vms?q=form-${unique}`);
    expect(items.map(({ name }) => name)).toEqual([`form-${unique}`]);

    const open = async (item: string) => {
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    await open('Edit name and tags');
    await expectKeptAndSavedOnce(page, {
      dialog,
      field: dialog.getByLabel('Name'),
      typed: `renamed-${unique}`,
      act: 'Save',
      saves: 'vms.update',
    });
    await expect(page.getByRole('heading', { level: 1, name: `renamed-${unique}` })).toBeVisible();
    await open('Put on hold');
    await expectKeptAndSavedOnce(page, {
      dialog,
      field: dialog.getByLabel('Reason'),
      typed: 'Patch window',
      act: 'Put on hold',
      saves: 'vms.hold',
    });
    await expect(page.getByText('On hold: Patch window')).toBeVisible();
  });

  test('repeated retries, a name, a token', { tag: '@long' }, async ({ signedIn, api, unique }) => {
    const vm = await api.createVm(`retry-${unique}`);
    await api.setExtension(vm.id, 'watch', sampleGoal(probe));
    const page = await signedIn('admin');
    const dialog = page.getByRole('dialog');
    await page.goto(`/vms/${vm.id}`);
    await page.getByRole('button', { name: 'Actions for watch' }).click();
    await page.getByRole('menuitem', { name: 'Retry repeatedly…' }).click();
    await expectKeptAndSavedOnce(page, {
      dialog,
      field: dialog.getByLabel('Minutes between retries'),
      typed: '7',
      act: 'Start retries',
      saves: 'goalStates.retryExtension',
    });

    await page.goto('/settings/account');
    await page.getByRole('button', { name: 'Change name' }).click();
    await expectKeptAndSavedOnce(page, {
      dialog,
      field: dialog.getByLabel('Name'),
      typed: `Ada ${unique}`,
      act: 'Change name',
      saves: 'account.rename',
    });
    await expect(page.getByRole('main').getByText(`Ada ${unique}`)).toBeVisible();

    await page.goto('/settings/tokens');
    await page.getByRole('button', { name: 'Create token' }).first().click();
    await expectKeptAndSavedOnce(page, {
      dialog: page.getByRole('dialog', { name: 'Create API token' }),
      field: dialog.getByLabel('Name', { exact: true }),
      typed: `ci-${unique}`,
      act: 'Create token',
      saves: 'tokens.create',
    });
    await expect(page.getByRole('dialog', { name: `Copy the token ci-${unique}` })).toBeVisible();
  });
});

test('a rejected form focuses the first faulty field; a corrected field loses its error', { tag: '@long' }, async ({
  signedIn,
  api,
  unique,
  console,
}) => {
  console.allow(/status of (409|422)/);
  const vm = await api.createVm(`taken-${unique}`);
  await api.setExtension(vm.id, 'watch', sampleGoal(probe));
  const page = await signedIn('operator');
  const dialog = page.getByRole('dialog');

  await test.step('after the portal’s answer', async () => {
    await page.goto('/vms');
    await page.getByRole('button', { name: 'Enroll a VM' }).first().click();
    await dialog.getByLabel('Name').fill(vm.name);
    await dialog.getByLabel('Tags').fill('env=prod');
    await dialog.getByLabel('Tags').press('Enter');
    const fault = dialog.getByText(`The name ${vm.name} is already used by another VM.`);
    await expect(fault).toBeVisible();
    await expect(dialog.getByLabel('Name')).toBeFocused();
    await expect(dialog.getByLabel('Tags')).toHaveValue('env=prod');
    await page.keyboard.press('End');
    await page.keyboard.type('b');
    await expect(fault).toHaveCount(0);
    await expect(dialog.getByLabel('Name'), 'typing goes on in the field').toHaveValue(`${vm.name}b`);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  await test.step('before anything is sent', async () => {
    await page.goto(`/vms/${vm.id}`);
    await page.getByRole('button', { name: 'Actions for watch' }).click();
    await page.getByRole('menuitem', { name: 'Retry repeatedly…' }).click();
    const [minutes, times] = [
      dialog.getByLabel('Minutes between retries'),
      dialog.getByLabel('Maximum number of further retries'),
    ];
    await minutes.fill('0');
    await times.fill('0');
    await dialog.getByRole('button', { name: 'Start retries' }).click();
    const faults = dialog.getByText(/Enter a whole number from 1 to/);
    await expect(faults).toHaveCount(2);
    await expect(minutes).toBeFocused();
    await minutes.fill('5');
    await expect(faults).toHaveCount(1);
    await page.keyboard.press('Enter');
    await expect(times).toBeFocused();
  });
});

import type { Locator, Page } from '@playwright/test';
import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import { tabTo } from './support/keyboard.ts';
import { enrollPlanMachine, helloPlan, type TranscriptRow } from './support/plan-machine.ts';
import { expect, test } from './support/test.ts';

const log = (page: Page): Locator => page.getByRole('region', { name: 'Log', exact: true });

/** Pastes a plan into the editor, replacing its contents. */
async function paste(page: Page, plan: unknown): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'Plan' });
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(JSON.stringify(plan, null, 2));
}

const lines = (from: number, to: number, call: number): TranscriptRow[] =>
  Array.from({ length: to - from }, (_, index) => [100 + from + index, 'out', call, `line ${from + index}`] as const);

test('a plan is checked, queued, followed live and run again, and its failure says what happened', async ({
  portal,
  api,
  signedIn,
  unique,
}) => {
  test.setTimeout(240_000);
  const vm = await api.createVm(`plans-${unique}`);
  const machine = await enrollPlanMachine(portal.gatewayUrl, vm);
  const page = await signedIn('admin');
  const german = await signedIn('operator', { locale: 'de-DE', viewport: { width: 390, height: 844 } });

  await test.step('before the first execution, the tab leads to the editor', async () => {
    await page.goto(`/vms/${vm.id}?tab=executions`);
    await expect(page.getByText('No execution is running or waiting.')).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await tabTo(page, page.getByRole('link', { name: 'Run a plan' }).first());
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/executions\/new$/);
  });

  await test.step('the editor names every fault with its place, and queues only a plan that can run', async () => {
    const check = page.getByRole('region', { name: 'Plan check' });
    const queue = page.getByRole('button', { name: 'Queue plan' });
    await expect(check).toContainText('The plan can run on this VM.');
    await paste(page, { ...helloPlan, Files: {}, Name: 7 });
    await expect(check).toContainText('The plan cannot run: 2 errors, code 2');
    await expect(check.getByRole('button', { name: '/Scripts/hello/EntryPoint' })).toBeVisible();
    await expect(queue).toBeDisabled();
    await expectAccessibleInBothThemes(page);
    await check.getByRole('button', { name: '/Name' }).click();
    await expect(page.getByRole('textbox', { name: 'Plan' })).toBeFocused();
    await paste(page, helloPlan);
    await expect(check).toContainText('The plan can run on this VM.');
    await page.getByLabel('Note').fill('The certificate expires on Saturday');
    await queue.click();
    await expect(page.getByRole('heading', { level: 1, name: 'Rotate certificates' })).toBeVisible();
    await expect(page.getByText('The execution is next in the queue.')).toBeVisible();
    await expect(page.getByText('The certificate expires on Saturday')).toBeVisible();
    await expectAccessibleInBothThemes(page);
  });

  const id = await test.step('what the machine sends appears without a reload', async () => {
    const taken = await machine.take();
    await expect(page.getByText('about to start it')).toBeVisible();
    const call = { n: 1, script: 'hello', function: null, state: 'running', row: 2, atMs: 12 };
    await machine.run(taken, [call]);
    await machine.write(taken, [
      [0, 'begin', { run: 1, why: 'first' }],
      [9, 'log', { Level: 'warning', Body: 'renewing' }],
      [12, 'call', 1, 'hello', null],
      ...lines(0, 200, 1),
    ]);
    await expect(log(page)).toContainText('line 199');
    await expect(page.getByRole('button', { name: /Running 1 hello\(\)/ })).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await german.goto(`/vms/${vm.id}/executions/${taken}`);
    await expect(german.getByRole('region', { name: 'Protokoll', exact: true })).toContainText('line 199');
    await expectAccessible(german);
    return taken;
  });

  await test.step('scrolling up stops following, and a button says how many lines are new', async () => {
    await log(page).evaluate((element) => element.scrollTo(0, 0));
    await expect(log(page)).toContainText('renewing');
    await expect(page.getByRole('button', { name: 'Follow' })).toBeVisible();
    await machine.write(id, [...lines(200, 320, 1), [900, 'err', 1, '\u001b[31mcannot bind\u001b[0m']]);
    await page.getByRole('button', { name: '121 new lines' }).click();
    await expect(log(page)).toContainText('cannot bind');
    await log(page).evaluate((element) => element.scrollTo(0, 0));
    await page.keyboard.press('f');
    await expect(log(page).getByText('cannot bind', { exact: true })).toBeVisible();
  });

  await test.step('the failure shows its message, its stack and the line of the Body', async () => {
    const call = { n: 1, script: 'hello', function: null, state: 'failed', row: 2, untilRow: 324, atMs: 12 };
    await machine.write(id, [
      [950, 'end', 1, { exitCode: 3, ms: 938 }],
      [960, 'done', 1],
    ]);
    await machine.run(id, [{ ...call, tookMs: 938, exitCode: 3 }]);
    await machine.end(id, 1, {
      Message: 'hello ended with exit code 3',
      Type: 'ScriptError',
      AdditionalInfo: { script: 'hello', function: null, exitCode: 3, stderr: 'cannot bind' },
      Stack: ['<plan>:2 in Body: return hello(args.who).stdout'],
      Causes: [],
    });
    await expect(page.getByText('The plan failed: hello ended with exit code 3')).toBeVisible();
    await expect(page.getByText('ScriptError')).toBeVisible();
    await expect(page.getByText('The exception was raised here.')).toBeVisible();
    await expect(page.getByText('First error, line 324')).toBeVisible();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await expect(log(page).locator('[data-marked]')).toContainText('cannot bind');
    await expect(german.getByText('Der Plan ist fehlgeschlagen: hello ended with exit code 3')).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await expectAccessible(german);
  });

  await test.step('a call leads to its lines, a row has an address, and a call folds', async () => {
    await page.getByRole('button', { name: /Failed 1 hello\(\)/ }).click();
    await expect(log(page).locator('[data-row="2"]')).toBeInViewport();
    await page.goto(`/vms/${vm.id}/executions/${id}#L324`);
    await expect(log(page).locator('[data-marked]')).toContainText('cannot bind');
    await page.keyboard.press('[');
    await log(page)
      .getByRole('button', { name: /1 hello\(\)/ })
      .click();
    await expect(log(page)).not.toContainText('line 5');
    await expect(log(page)).toContainText(/1 hello\(\)\s*322 folded lines/);
    await expect(log(page)).toContainText('The execution ended with error code 1.');
    await page.keyboard.press('/');
    await page.keyboard.type('CANNOT');
    await expect(page.getByText('1 match', { exact: true })).toBeVisible();
    await page.keyboard.press('Enter');
    await expect(log(page).locator('[data-marked]'), 'a find opens its call').toContainText('cannot bind');
    await expectAccessible(page);
  });

  await test.step('the log shows only errors or messages, and a row leads back to the whole log', async () => {
    await page.getByRole('radio', { name: 'Errors', exact: true }).check();
    await expect(log(page)).toContainText('cannot bind');
    await expect(log(page)).not.toContainText('line 199');
    await expectAccessible(page);
    await log(page).focus();
    await page.keyboard.press('Shift+ArrowDown');
    await expect(log(page).locator('[data-marked]'), 'a row is marked by keyboard').toHaveCount(1);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('radio', { name: 'All' })).toBeChecked();
    await expect(log(page), 'the whole log takes the focus').toBeFocused();
    await page.getByRole('radio', { name: 'Messages' }).check();
    await log(page).getByRole('link', { name: 'Line 2', exact: true }).click();
    await expect(page.getByRole('radio', { name: 'All' })).toBeChecked();
    await expect(log(page).locator('[data-marked]')).toContainText('renewing');
    await page.keyboard.press('e');
    await expect(log(page).locator('[data-marked]')).toContainText('cannot bind');
    await page.keyboard.press('g');
    await page.keyboard.press('g');
    await expect(log(page).getByText('Started', { exact: true })).toBeInViewport();
  });

  await test.step('selected rows are copied as text and as a link', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await log(page).getByRole('link', { name: 'Line 5', exact: true }).click();
    await log(page)
      .getByRole('link', { name: 'Line 7', exact: true })
      .click({ modifiers: ['Shift'] });
    await expect(page).toHaveURL(/#L5-L7$/);
    await page.getByRole('button', { name: 'Copy text' }).click();
    await expect.poll(copied).toBe('line 1\nline 2\nline 3\n');
    await page.getByRole('button', { name: 'Copy link' }).click();
    await expect.poll(copied).toBe(page.url());
    await expectAccessible(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download archive' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`execution-${id}.zip`);
  });

  await test.step('the same plan runs again, succeeds, and shows what it returned', async () => {
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Run again' }).click();
    await expect(page.getByText('The execution is next in the queue.')).toBeVisible();
    const again = await machine.take();
    const call = { n: 1, script: 'hello', function: null, state: 'running', row: 1, atMs: 12 };
    await machine.run(again, [call]);
    await machine.write(again, [
      [0, 'begin', { run: 1, why: 'first' }],
      [12, 'call', 1, 'hello', null],
      ...lines(0, 319, 1),
    ]);
    await expect(log(page)).toContainText('line 318');
    await machine.write(again, [
      [913, 'end', 1, { exitCode: 0, ms: 901 }],
      [920, 'log', { Level: 'info', Body: 'renewed' }],
    ]);
    await machine.run(again, [{ ...call, state: 'succeeded', untilRow: 321, tookMs: 901, exitCode: 0 }]);
    await expect(log(page), 'a call that succeeded folds while the reader follows').not.toContainText('line 318');
    await expect(log(page)).toContainText('renewed');
    await log(page)
      .getByRole('button', { name: /1 hello\(\)/ })
      .click();
    await expect(page).toHaveURL(/\?folds=1/);
    await expect(log(page)).toContainText('line 0');
    await machine.end(again, 0, { files: 14 });
    await expect(page.getByText('The plan ran to completion.')).toBeVisible();
    await expect(page.getByRole('region', { name: 'Result' })).toContainText('"files": 14');
    await expectAccessibleInBothThemes(page);
  });

  await test.step('the two executions are compared: how they ended, their results, and what a call wrote', async () => {
    await page.getByRole('link', { name: 'Compare' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Compare executions' })).toBeVisible();
    await expect(page.getByRole('region', { name: 'Executions' })).toContainText(/Failed.*Succeeded/s);
    await expect(page.getByText('Both executions ran the same plan.')).toBeVisible();
    await expect(page.getByRole('region', { name: 'Result' })).toContainText('"files": 14');
    await page.getByRole('button', { name: 'Compare output' }).click();
    await expect(page.getByRole('region', { name: 'Output' })).toContainText('cannot bind');
    await expectAccessibleInBothThemes(page);
  });

  await test.step('changes to a plan are not lost without a question', async () => {
    await page.goto(`/vms/${vm.id}/executions/new`);
    await paste(page, { ...helloPlan, Name: 'Unsaved' });
    await page.getByRole('link', { name: 'VMs' }).first().click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stay' }).click();
    await expect(page.getByRole('textbox', { name: 'Plan' })).toContainText('Unsaved');
  });
});

test('waiting executions are listed in their order and canceled, and the fleet’s list finds them', {
  tag: '@long',
}, async ({ portal, api, signedIn, unique, console: watch }) => {
  const vm = await api.createVm(`queued-${unique}`);
  const machine = await enrollPlanMachine(portal.gatewayUrl, vm);
  for (const name of ['First', 'Second', 'Third']) {
    await api.call('POST', `/vms/${vm.id}/executions`, { body: { plan: { ...helloPlan, Name: `${name} ${unique}` } } });
  }
  const page = await signedIn('operator');
  const viewer = await signedIn('viewer', { locale: 'de-DE', viewport: { width: 390, height: 844 } });
  await page.goto(`/vms/${vm.id}?tab=executions`);
  const open = page.getByRole('region', { name: 'Now and next' });
  await expect(open.getByRole('row')).toHaveText([/State/, /First/, /Second/, /Third/]);
  await expect(
    page.getByRole('link', { name: 'Run a plan' }),
    'only readers with the grant scripts run plans',
  ).toHaveCount(0);
  const id = await machine.take();
  await machine.run(id);
  await expect(open.getByRole('row', { name: /First/ })).toContainText('The execution has been running for');
  await expectAccessibleInBothThemes(page);

  await open
    .getByRole('row', { name: /Second/ })
    .getByRole('button', { name: 'Cancel' })
    .click();
  await expect(page.getByRole('alertdialog')).toContainText('nothing has run');
  await expectAccessible(page);
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel execution' }).click();
  await expect(open.getByRole('row', { name: /Second/ })).toHaveCount(0);
  await page.getByRole('button', { name: 'Cancel waiting executions (1)' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel 1 execution' }).click();
  const past = page.getByRole('region', { name: 'Past executions' });
  await expect(past.getByRole('row')).toHaveText([/State/, /Canceled.*Third/, /Canceled.*Second/]);

  await viewer.goto(`/vms/${vm.id}/executions/${id}`);
  await expect(viewer.getByText('Die Ausführung läuft seit')).toBeVisible();
  await expect(viewer.getByRole('button', { name: 'Ausführung abbrechen' })).toHaveCount(0);
  await expectAccessible(viewer);
  await machine.end(id, 0, null);
  await expect(viewer.getByText('Der Plan lief bis zum Ende.')).toBeVisible();
  await page.goto(`/vms/${vm.id}/executions/${id}`);
  await expect(page.getByText('The execution wrote no output.')).toBeVisible();

  await page.goto(`/vms/${vm.id}`);
  await page.getByRole('link', { name: new RegExp(`^Executions, First ${unique} 1.2.0, Succeeded`) }).click();
  await expect(page).toHaveURL(`/vms/${vm.id}/executions/${id}`);

  await page.goto('/executions');
  await page.getByRole('searchbox', { name: 'Search by plan or VM' }).fill(vm.name);
  await page.getByRole('combobox', { name: 'State' }).selectOption('Canceled');
  await expect(page.getByRole('row')).toHaveText([/State/, /Third/, /Second/]);
  await expect(page).toHaveURL(`/executions?state=cancelled&q=${vm.name}`);
  await expectAccessibleInBothThemes(page);
  await page.reload();
  await expect(page.getByRole('row')).toHaveText([/State/, /Third/, /Second/]);
  await page.getByRole('radio', { name: 'By plan' }).check();
  await expect(page.getByRole('row')).toHaveText([/Plan/, /Third.*1 ?Canceled/, /Second.*1 ?Canceled/]);
  await page
    .getByRole('row', { name: /Second/ })
    .getByRole('button', { name: '1 Canceled' })
    .click();
  await expect(
    page.getByRole('region', { name: /^Second .*, Canceled$/ }).getByRole('link', { name: vm.name }),
  ).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await page.reload();
  await expect(page.getByRole('radio', { name: 'By plan' })).toBeChecked();
  await page.getByRole('radio', { name: 'List' }).check();
  await page.getByRole('searchbox', { name: 'Search by plan or VM' }).fill('nothing like it');
  await expect(page.getByRole('heading', { name: 'No executions match' })).toBeVisible();

  watch.allow(/status of 500/);
  await viewer.route(/executions\.list/, (route) => route.fulfill({ status: 500, body: 'no' }));
  await viewer.goto(`/vms/${vm.id}?tab=executions`);
  const failure = viewer.getByRole('heading', { name: 'Die Ausführungen konnten nicht geladen werden' });
  await expect(failure).toHaveCount(2);
  await expectAccessible(viewer);
  await viewer.unroute(/executions\.list/);
  for (const count of [1, 0]) {
    await viewer.getByRole('button', { name: 'Erneut versuchen' }).first().click();
    await expect(failure).toHaveCount(count);
  }
  await expect(viewer.getByRole('region', { name: 'Frühere Ausführungen' })).toContainText(`First ${unique}`);
  await expectAccessible(viewer);
  await viewer.goto('/executions');
  await expect(viewer.getByRole('table')).toContainText(`First ${unique}`);
  await expectAccessible(viewer);
});

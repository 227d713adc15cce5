import { readFileSync } from 'node:fs';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { expect, test } from './support/test.ts';

// These tests read the whole list, and VMs of other tests would push rows out of view.
test.use({ portalGroup: 'vms' });

test('an operator enrolls a VM, and its machine appears without a reload', async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const page = await signedIn('operator');
  const name = `web-${unique}`;
  await page.goto('/vms');
  await page.getByRole('button', { name: 'Enroll a VM' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('Tags').fill('role=web, region=eu');
  await expectAccessibleInBothThemes(page);
  await dialog.getByRole('button', { name: 'Create VM' }).click();
  const command = dialog.getByText(/^curl -fsS \S+\/install \| ANNEX_ENROLLMENT_TOKEN=\S+ sh$/);
  await expect(command).toBeVisible();
  const [, token = ''] = /ANNEX_ENROLLMENT_TOKEN=(\S+)/.exec((await command.textContent()) ?? '') ?? [];
  await page.keyboard.press('Escape');

  const row = page.getByRole('row').filter({ hasText: name });
  await expect(row).toContainText('Never seen');
  const { items } = await api.call<{ items: { id: string }[] }>('GET', `/vms?q=${name}`);
  await startAgent({ id: items[0]?.id ?? '', name, enrollmentToken: token });
  await expect(row).toContainText('Healthy');
  await expect(row).toContainText('role: web');
});

test('an outdated agent is shown in the list and on its VM’s page, with the command that updates it', {
  tag: '@long',
}, async ({ signedIn, portal, api, unique }) => {
  const vm = await api.createVm(`older-${unique}`);
  const answer = await fetch(`${portal.gatewayUrl}/agent/v1/enroll`, {
    method: 'POST',
    body: JSON.stringify({
      enrollmentToken: vm.enrollmentToken,
      certificate: newKeyPair().certificate,
      agent: { name: 'annex-agent', version: '0.0.1' },
    }),
  });
  expect(answer.status).toBe(201);
  const page = await signedIn('operator');
  await page.goto('/vms?agentOutdated=yes');
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Agent' }).click();
  await page.keyboard.press('Escape');
  const row = page.getByRole('row').filter({ hasText: vm.name });
  await expect(row).toContainText(/0\.0\.1, \d+\.\d+\.\d+ is available/);
  await expectAccessibleInBothThemes(page);
  // Loads the page from the server, and not through a click in the list.
  await page.goto(`/vms/${vm.id}`);
  await page.getByRole('button', { name: 'is available' }).click();
  const dialog = page.getByRole('dialog', { name: `Update the agent of ${vm.name}` });
  await expect(dialog).toContainText('annex-agent update --dir /var/lib/annex-agent');
  await expectAccessibleInBothThemes(page);
  await dialog.getByRole('link', { name: 'All VMs with an older agent' }).click();
  await expect(page.getByRole('row').filter({ hasText: vm.name })).toBeVisible();
  await page.goto('/vms?agentOutdated=no');
  await expect(page.getByRole('row').filter({ hasText: vm.name })).toHaveCount(0);
});

test('a duplicate name is rejected at its field, until the name is corrected', async ({
  signedIn,
  api,
  console,
  unique,
}) => {
  console.allow(/status of 409/);
  const { name } = await api.createVm(`taken-${unique}`);
  const page = await signedIn('operator');
  await page.goto('/vms');
  await page.getByRole('button', { name: 'Enroll a VM' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('dialog').getByRole('button', { name: 'Create VM' }).click();
  const fault = page.getByText(`The name ${name} is already used by another VM.`);
  await expect(fault).toBeVisible();
  await page.getByRole('dialog').getByLabel('Name').fill(`${name}-2`);
  await expect(fault).toHaveCount(0);
});

test('the search finds parts of names, is kept in the URL, and says if nothing matches', async ({
  signedIn,
  api,
  unique,
}) => {
  const names = [`find-${unique}-a`, `find-${unique}-b`, `other-${unique}`];
  for (const name of names) await api.createVm(name);
  const page = await signedIn('viewer');
  await page.goto('/vms');
  await expect(page.getByRole('button', { name: 'Enroll a VM' })).toHaveCount(0);
  await page.keyboard.press('/');
  await page.keyboard.type(`FIND-${unique}`);
  await expect(page.getByRole('link', { name: /^find-/ })).toHaveCount(2);
  await expect(page).toHaveURL(new RegExp(`q=FIND-${unique}`));
  await page.reload();
  await expect(page.getByRole('link', { name: /^find-/ })).toHaveCount(2);
  await expectAccessibleInBothThemes(page);

  await page.getByRole('searchbox').fill('nobody-has-this');
  await expect(page.getByRole('heading', { name: 'No VMs match' })).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect(page.getByRole('link', { name: names[2] ?? '' })).toBeVisible();
});

test('j and k move in the list, Enter opens', async ({ signedIn, api, unique }) => {
  await api.createVm(`walk-${unique}-a`);
  const second = await api.createVm(`walk-${unique}-b`);
  const page = await signedIn('viewer');
  await page.goto(`/vms?q=walk-${unique}`);
  await expect(page.getByRole('link', { name: /^walk-/ })).toHaveCount(2);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`/vms/${second.id}`);
});

test('filters by tag and health are chosen from menus, kept in the URL, and undone by Back', { tag: '@long' }, async ({
  signedIn,
  api,
  unique,
}) => {
  const site = `site "${unique}": ä`;
  for (const [name, tags] of [
    ['a', { site, role: 'web' }],
    ['b', { site, role: 'db' }],
    ['c', { role: 'web' }],
  ] as const) {
    await api.call('POST', '/vms', { body: { name: `chip-${unique}-${name}`, tags } });
  }
  const page = await signedIn('viewer');
  await page.goto(`/vms?q=chip-${unique}`);
  const links = page.getByRole('link', { name: /^chip-/ });
  await expect(links).toHaveCount(3);

  await page.getByRole('group', { name: 'Filters' }).getByRole('button', { name: 'Tag' }).click();
  const menu = page.getByRole('dialog', { name: 'Tag' });
  await menu.getByRole('combobox').fill(unique);
  await expect(menu.getByRole('option', { name: `${site} 2` })).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await menu.getByRole('option', { name: `${site} 2` }).click();
  await expect(links).toHaveCount(2);
  await expect(page.getByText('2 VMs match')).toBeVisible();
  expect(new URL(page.url()).searchParams.get('tag')).toBe(`site=${site}`);

  await page.getByRole('group', { name: 'Filters' }).getByRole('button', { name: 'Health' }).click();
  await page.getByRole('checkbox', { name: 'Failed' }).check();
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: 'Apply' }).click();
  await expect(page.getByRole('heading', { name: 'No VMs match' })).toBeVisible();
  await page.goBack();
  await expect(links).toHaveCount(2);
  await page.goBack();
  await expect(links).toHaveCount(3);
  await page.goForward();
  await expect(links).toHaveCount(2);
  await page.reload();
  await expect(links).toHaveCount(2);
  await page.getByRole('button', { name: /^Remove the filter Tag site/ }).click();
  await expect(links).toHaveCount(3);
});

test('a menu works by keyboard alone', async ({ signedIn, api, unique }) => {
  await api.call('POST', '/vms', { body: { name: `keys-${unique}`, tags: { [`only-${unique}`]: 'yes' } } });
  const page = await signedIn('viewer');
  await page.goto('/vms');
  const typed = Promise.withResolvers<void>();
  await page.route(/fleet\.facets/, async (route) => {
    await typed.promise;
    await route.fallback();
  });
  await page.getByRole('group', { name: 'Filters' }).getByRole('button', { name: 'Tag' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('combobox', { name: 'Find a tag' })).toBeFocused();
  // Enter is pressed before any response arrives, and still applies to the results of this search.
  await page.keyboard.type(`only-${unique}`);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  typed.resolve();
  await expect(page.getByRole('link', { name: `keys-${unique}` })).toBeVisible();
  await expect(page.getByRole('status').filter({ hasText: '1 VM matches' })).toBeVisible();
});

test('clicking a header sorts the list, and the header shows the order', async ({ signedIn, api, unique }) => {
  for (const name of ['a', 'b']) await api.createVm(`sort-${unique}-${name}`);
  const page = await signedIn('viewer');
  await page.goto(`/vms?q=sort-${unique}`);
  const links = page.getByRole('link', { name: /^sort-/ });
  await expect(links).toHaveText([`sort-${unique}-a`, `sort-${unique}-b`]);
  const head = page.getByRole('columnheader', { name: 'Name' });
  await expect(head).toHaveAttribute('aria-sort', 'ascending');
  await head.getByRole('button').click();
  await expect(links).toHaveText([`sort-${unique}-b`, `sort-${unique}-a`]);
  await expect(head).toHaveAttribute('aria-sort', 'descending');
  await expect(page).toHaveURL(/sort=-name/);
});

test('this browser keeps the chosen columns', async ({ signedIn, api, unique }) => {
  await api.createVm(`look-${unique}`);
  const page = await signedIn('viewer');
  await page.goto(`/vms?q=look-${unique}`);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Goal state' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Compact rows' }).click();
  await expectAccessibleInBothThemes(page);
  await page.keyboard.press('Escape');
  await page.reload();
  await expect(page.getByRole('columnheader', { name: 'Goal state' })).toBeVisible();
});

test('invalid parts of a URL are ignored and named', async ({ signedIn, api, unique }) => {
  await api.createVm(`odd-${unique}`);
  const page = await signedIn('viewer');
  await page.goto(`/vms?q=odd-${unique}&health=fine&sort=colour&version=x`);
  await expect(page.getByText('These filters in the address are not supported and were ignored')).toBeVisible();
  await expect(page.getByRole('link', { name: `odd-${unique}` })).toBeVisible();
  await expectAccessibleInBothThemes(page);
});

test('a new VM is announced as a count and does not move the rows', async ({ signedIn, api, unique }) => {
  await api.createVm(`calm-${unique}-b`);
  const page = await signedIn('viewer');
  await page.goto(`/vms?q=calm-${unique}`);
  await expect(page.getByRole('link', { name: /^calm-/ })).toHaveCount(1);
  await api.createVm(`calm-${unique}-a`);
  await page.getByRole('button', { name: 'Show 1 more VM' }).click();
  await expect(page.getByRole('link', { name: /^calm-/ })).toHaveText([`calm-${unique}-a`, `calm-${unique}-b`]);
});

test('matching VMs are downloaded as a file that no spreadsheet executes', async ({ signedIn, api, unique }) => {
  await api.call('POST', '/vms', { body: { name: `file-${unique}-a`, tags: { '=cmd': '1' } } });
  await api.createVm(`file-${unique}-b`);
  const page = await signedIn('viewer');
  await page.goto(`/vms?q=file-${unique}`);
  const waiting = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export' }).click();
  const download = await waiting;
  expect(download.suggestedFilename()).toMatch(/^annex-vms-.*\.csv$/);
  const text = readFileSync(await download.path(), 'utf8');
  const lines = text.trimEnd().split('\r\n');
  expect(lines).toHaveLength(3);
  expect(lines[1]).toContain(`"'=cmd=1"`);
});

test('only visible rows of many VMs are in the document, and scrolling reaches the last row', { tag: '@long' }, async ({
  signedIn,
  api,
  unique,
}) => {
  const count = 250;
  for (let made = 0; made < count; made += 25) {
    const names = Array.from({ length: 25 }, (_, index) => `many-${unique}-${String(made + index).padStart(3, '0')}`);
    await Promise.all(names.map((name) => api.createVm(name)));
  }
  const page = await signedIn('viewer');
  await page.goto(`/vms?q=many-${unique}`);
  await expect(page.getByRole('link', { name: `many-${unique}-000` })).toBeVisible();
  expect(await page.getByRole('link', { name: /^many-/ }).count()).toBeLessThan(120);
  const last = page.getByRole('link', { name: `many-${unique}-249` });
  await expect(async () => {
    await page.mouse.wheel(0, 4000);
    await expect(last).toBeVisible({ timeout: 100 });
  }).toPass();
});

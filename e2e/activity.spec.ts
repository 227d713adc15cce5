import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { countClicks } from './support/clicks.ts';
import { withDatabase } from './support/database.ts';
import type { Portal } from './support/portal.ts';
import { expect, test } from './support/test.ts';

const root = path.resolve(import.meta.dirname, '..');

test('a new action is announced as a count, and opens to show the values before and after', { tag: '@long' }, async ({
  signedIn,
  api,
  unique,
}) => {
  const vm = await api.createVm(`act-${unique}`, { env: 'prod' });
  const page = await signedIn('operator');
  await page.goto(`/activity?q=${vm.name}`);
  const list = page.getByRole('main');
  const made = list.getByRole('listitem').filter({ hasText: `Bootstrap token created the VM ${vm.name}` });
  await expect(made).toBeVisible();
  await expect(made.getByRole('link', { name: vm.name })).toHaveAttribute('href', `/vms/${vm.id}`);

  await api.call('PATCH', `/vms/${vm.id}`, { body: { tags: { env: 'test', owner: 'ada' } } });
  const changed = list
    .getByRole('listitem')
    .filter({ hasText: `changed ${vm.name}: tag env prod → test and tag owner not set → ada` });
  const waiting = page.getByRole('button', { name: /new entr(y|ies)$/ });
  await expect(waiting).toBeVisible();
  await expect(changed).toHaveCount(0);
  await waiting.click();
  await expect(changed).toBeVisible();
  await expect(waiting).toHaveCount(0);

  await changed.getByRole('button', { name: 'Show before and after' }).click();
  const env = changed.getByRole('row').filter({ hasText: 'tags › env' });
  await expect(env).toContainText(/prod.*test/);
  await expect(changed.getByRole('row').filter({ hasText: 'tags › owner' })).toContainText('ada');
  await expect(changed.getByText(/Number \d+ in the chain/)).toBeVisible();
  await expectAccessibleInBothThemes(page);

  await api.call('DELETE', `/vms/${vm.id}`);
  await page.reload();
  await expect(list.getByText(`Bootstrap token deleted ${vm.name}`)).toBeVisible();
  await expect(list.getByRole('link', { name: vm.name })).toHaveCount(0);
});

test('filters are kept in the URL, and a download contains all matching actions', { tag: '@long' }, async ({
  signedIn,
  api,
  unique,
}) => {
  const namespace = `Act${unique.replaceAll(/\W/g, '')}.Lab`;
  await api.call('POST', '/publishers', { body: { namespace, displayName: '=1+1' } });
  const vm = await api.createVm(`file-${unique}`);
  const page = await signedIn('admin');
  await page.goto('/activity');
  await page.getByRole('searchbox', { name: 'Part of a name' }).fill(`file-${unique}`);
  await expect(page).toHaveURL(new RegExp(`q=file-${unique}`));
  await expect(page.getByRole('main').getByRole('listitem')).toHaveCount(1);
  await page.getByLabel('Action').selectOption({ label: 'Publishers' });
  await expect(page.getByText('No entries match')).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await expect(page).toHaveURL(/\/activity$/);

  await page.goto(`/activity?action=publisher&q=${namespace}`);
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'CSV' }).click()]);
  const text = readFileSync(await file.path(), 'utf8');
  expect(text.trimEnd().split('\r\n')).toHaveLength(2);
  expect(text).toContain(`"publisher.create","publisher","${namespace}"`);
  const [lines] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'JSON Lines' }).click(),
  ]);
  const act = JSON.parse(readFileSync(await lines.path(), 'utf8').trim()) as { after: { displayName: string } };
  expect(act.after.displayName).toBe('=1+1');

  // Viewers may not see members, so members are missing from the activity that viewers see.
  const viewer = await signedIn('viewer');
  await viewer.goto(`/activity?q=${vm.name}`);
  const made = viewer
    .getByRole('main')
    .getByRole('listitem')
    .filter({ hasText: `created the VM ${vm.name}` });
  await expect(made).toBeVisible();
  await expect(viewer.getByText('ada joined with the role')).toHaveCount(0);
  await expect(made.getByRole('button', { name: 'Show before and after' })).toHaveCount(0);
});

/** Records that these VMs stopped responding at this time, once the worker has evaluated their health. */
async function silence(portal: Portal, vmIds: readonly string[], at: Date): Promise<void> {
  await withDatabase(portal, async (client) => {
    const known = 'select count(*)::int as n from vm_health where vm_id = any ($1)';
    await expect.poll(async () => (await client.query(known, [vmIds])).rows[0].n).toBe(vmIds.length);
    await client.query(
      `insert into health_transitions (at, vm_id, kind, "from", "to")
       select $2, unnest($1::uuid[]), 'health', 'healthy', 'unresponsive'`,
      [vmIds, at],
    );
  });
}

test('what happened last night is two clicks away, and leads to exactly these VMs', async ({
  portal,
  signedIn,
  api,
  unique,
}) => {
  const vms = [await api.createVm(`night-a-${unique}`), await api.createVm(`night-b-${unique}`)];
  const page = await signedIn('viewer');
  await page.goto('/');
  const night = await page.evaluate(() => {
    const today = new Date();
    return new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1, 22, 17, 5).toISOString();
  });
  await silence(
    portal,
    vms.map(({ id }) => id),
    new Date(night),
  );

  const clicks = await countClicks(page);
  await page.getByRole('navigation').getByRole('link', { name: 'Activity' }).first().click();
  await page.getByRole('button', { name: /^Last night/ }).click();
  await expect(page).toHaveURL(/since=night/);
  const silent = page.getByRole('main').getByRole('listitem').filter({ hasText: '2 VMs stopped responding' });
  await expect(silent).toBeVisible();
  await clicks.expectAtMost('what happened last night', 2);
  await expect(page.getByRole('button', { name: /^Last night/ })).toHaveAttribute('aria-pressed', 'true');
  await expectAccessibleInBothThemes(page);

  await page.getByRole('radio', { name: 'People' }).check();
  await expect(page).toHaveURL(/kind=people/);
  await expect(silent).toHaveCount(0);
  await page.getByRole('radio', { name: 'Fleet' }).check();
  await silent.getByRole('link', { name: '2 VMs' }).click();
  await expect(page).toHaveURL(/\/vms\?event=silent/);
  for (const { name } of vms) await expect(page.getByRole('link', { name })).toBeVisible();
  await expect(page.getByRole('main').getByRole('link', { name: /^night-/ })).toHaveCount(2);
});

test('an empty range names its hours, in the order of the reader’s region', { tag: '@long' }, async ({
  signedIn,
  unique,
}) => {
  for (const [locale, hours] of [
    ['en-GB', /from \d{1,2} [A-Z][a-z]+, 18:00 to \d{1,2} [A-Z][a-z]+, 08:00\./],
    ['en-US', /from [A-Z][a-z]+ \d{1,2}, 18:00 to [A-Z][a-z]+ \d{1,2}, 08:00\./],
  ] as const) {
    const page = await signedIn('viewer', { locale });
    // The first page stores the reader's time zone.
    await page.goto('/');
    await expect.poll(async () => (await page.context().cookies()).map(({ name }) => name).join()).toMatch(/zone/i);
    await page.goto(`/activity?since=night&q=none-${unique}`);
    await expect(page.getByText('The selected time range is')).toHaveText(hours);
  }
});

test('similar actions share a line, which opens to show each of them', { tag: '@long' }, async ({
  signedIn,
  api,
  unique,
}) => {
  const page = await signedIn('operator');
  for (const n of [1, 2, 3]) await api.createVm(`fold-${unique}-${n}`);
  await page.goto(`/activity?q=fold-${unique}`);
  const line = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Bootstrap token created 3 VMs' });
  await expect(line).toBeVisible();
  await line.getByRole('button', { name: 'Show individual actions' }).click();
  for (const n of [1, 2, 3]) await expect(line.getByText(`created the VM fold-${unique}-${n}`)).toBeVisible();
  await expectAccessibleInBothThemes(page);
});

test('a line marks where the last visit ended', { tag: '@long' }, async ({ portal, signedIn, api, unique }) => {
  const page = await signedIn('operator');
  await api.createVm(`seen-${unique}`);
  await page.goto(`/activity?q=${unique}`);
  await expect(page.getByText('Your last visit')).toHaveCount(0);
  await withDatabase(portal, (client) =>
    client.query(`update users set previous_seen_at = now(), last_seen_at = now() where role = 'operator'`),
  );
  const vm = await api.createVm(`seen-too-${unique}`);
  await api.call('PATCH', `/vms/${vm.id}`, { body: { tags: { env: 'test' } } });
  await page.goto(`/activity?q=${unique}&since=visit`);
  await expect(page.getByRole('main').getByText(`changed ${vm.name}`)).toBeVisible();
  await page.getByRole('button', { name: /^Since last visit/ }).click();
  await expect(page).not.toHaveURL(/since/);
  await expect(page.getByText('Your last visit')).toBeVisible();
  await expectAccessibleInBothThemes(page);
});

test('a change of the activity log in the database is detected', { tag: '@long' }, async ({
  portal,
  signedIn,
  api,
  unique,
}) => {
  const vm = await api.createVm(`chain-${unique}`);
  const page = await signedIn('viewer');
  await page.goto('/activity');
  await expect(
    page.getByRole('main').getByText(/^Activity log: [\d,]+ entries|^Activity log intact: [\d,]+ entries, checked/),
  ).toBeVisible();
  await expect.poll(() => verify(portal), { timeout: 15_000 }).toMatchObject({ status: 0 });
  expect(verify(portal).output).toMatch(
    /\d+ entries, 0 anchors\.\nThe chain is valid\.\nThe chain ends at \d+:[0-9a-f]{64}/,
  );

  await withDatabase(portal, async (client) => {
    const rename = (name: string) =>
      client.query<{ id: string }>('update audit_entries set actor_name = $1 where target_id = $2 returning id', [
        name,
        vm.id,
      ]);
    const id = (await rename('Eve')).rows[0]?.id;
    const { status, output } = verify(portal);
    expect([status, output]).toEqual([1, expect.stringContaining(`BROKEN  altered: entry ${id} `)]);
    expect(output).toContain('the entry was altered');
    await expect(page.getByRole('main').getByRole('alert')).toContainText(`broken at entry ${id}`, { timeout: 40_000 });
    await expectAccessibleInBothThemes(page);
    await rename('Bootstrap token');
  });
  expect(verify(portal).status).toBe(0);
  expect(run(portal, 'accept-activity', '--reason', 'examined').output).toContain('Nothing to accept');
});

const verify = (portal: Portal) => run(portal, 'verify-activity');

/** Runs a project command on this portal's data. */
function run(portal: Portal, name: string, ...args: string[]): { status: number | null; output: string } {
  const script = ['--import', './server/platform/quick-imports.ts', `scripts/${name}.ts`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...script, ...args], {
    cwd: root,
    env: { ...process.env, DATA_DIR: portal.dataDir },
    encoding: 'utf8',
  });
  return { status, output: `${stdout}${stderr}` };
}

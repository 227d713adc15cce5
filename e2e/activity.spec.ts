import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { withDatabase } from './support/database.ts';
import type { Portal } from './support/portal.ts';
import { expect, test } from './support/test.ts';

const root = path.resolve(import.meta.dirname, '..');

test('a new action is announced as a count, and opens to show the values before and after', async ({
  signedIn,
  api,
  unique,
}) => {
  const vm = await api.createVm(`act-${unique}`, { env: 'prod' });
  const page = await signedIn('operator');
  await page.goto('/activity');
  const list = page.getByRole('main');
  const made = list.getByRole('listitem').filter({ hasText: `Bootstrap token created the VM ${vm.name}` });
  await expect(made).toBeVisible();
  await expect(made.getByRole('link', { name: vm.name })).toHaveAttribute('href', `/vms/${vm.id}`);

  await api.call('PATCH', `/vms/${vm.id}`, { body: { tags: { env: 'test', owner: 'ada' } } });
  const changed = list.getByRole('listitem').filter({ hasText: `changed the name or tags of ${vm.name}` });
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

test('filters are kept in the URL, and a download contains all matching actions', async ({ signedIn, api, unique }) => {
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

  // Viewers may not see members, so they do not see them in the activity either.
  const viewer = await signedIn('viewer');
  await viewer.goto('/activity');
  const made = viewer
    .getByRole('main')
    .getByRole('listitem')
    .filter({ hasText: `created the VM ${vm.name}` });
  await expect(made).toBeVisible();
  await expect(viewer.getByText('ada joined with the role')).toHaveCount(0);
  await expect(made.getByRole('button', { name: 'Show before and after' })).toHaveCount(0);
});

test('a change of the activity log in the database is detected', async ({ portal, signedIn, api, unique }) => {
  const vm = await api.createVm(`chain-${unique}`);
  const page = await signedIn('viewer');
  await page.goto('/activity');
  await expect(page.getByRole('main').getByText(/entries are numbered and sealed\./)).toBeVisible();
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
  const { status, stdout, stderr } = spawnSync(process.execPath, [`scripts/${name}.ts`, ...args], {
    cwd: root,
    env: { ...process.env, DATA_DIR: portal.dataDir },
    encoding: 'utf8',
  });
  return { status, output: `${stdout}${stderr}` };
}

import type { Page } from '@playwright/test';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { Database } from '#db/client.ts';
import * as schema from '#db/schema/index.ts';
import { exit51, type GivenVms, insertVms, recover } from '#server/domain/attention/testing/insert-vms.ts';
import { checkCounts } from '#server/domain/health/index.ts';
import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { withDatabase } from './support/database.ts';
import type { Portal } from './support/portal.ts';
import { expect, test } from './support/test.ts';

// The page groups all problems of a portal, so other tests must not add any.
test.use({ portalGroup: 'attention' });

const handler = 'Attention.Lab.Mount';
const version = { handler, goalVersion: '2.0.0.0', version: '2.0.0.0' };
const exitTitle = `${handler} enable: exit code 51`;

/** Calls a function with the portal's database, as domain code uses it. */
const withFleet = (portal: Portal, run: (db: Database) => Promise<void>) =>
  withDatabase(portal, (client) => run(drizzle(client, { schema }) as unknown as Database));

/** Inserts VMs with their health, as the worker would have stored it, and keeps the worker from evaluating them. */
const given = (portal: Portal, groups: readonly GivenVms[]) =>
  withFleet(portal, async (db) => {
    await insertVms(db, new Date(), groups);
    await db.execute(`insert into health_checks select id, 'infinity' from vms on conflict do nothing`);
  });

// The next test starts without problems.
test.afterEach(({ portal }) =>
  withFleet(portal, async (db) => {
    await recover(db, '');
    await checkCounts({ db }, new Date());
  }),
);

const titles = (page: Page) => page.getByRole('region', { name: 'Problems' }).getByRole('heading', { level: 2 });
const row = (page: Page, title: string) => page.getByRole('listitem').filter({ has: page.getByText(title) });
const menuOf = (page: Page, act: 'Assign' | 'Snooze') => page.getByRole('button', { name: `${act} ${exitTitle}` });

test('problems are grouped by cause; each shows the handler’s sentence, what its VMs share and when it began', {
  tag: '@long',
}, async ({ portal, api, signedIn }) => {
  await api.publishSample('Northwind.Storage.Mount', '2.0.0.0', handler);
  const since = new Date(Date.now() - 3_600_000);
  const warning = { ...version, health: 'degraded', cause: 'status', messageId: '1215' } as const;
  await given(portal, [
    { name: 'well', count: 240, tags: { region: 'eu' }, extension: version },
    { name: 'warns', count: 60, health: 'degraded', tags: { region: 'ap' }, since, apart: 20, extension: warning },
    { name: 'silent', count: 3, health: 'unresponsive', since, apart: 5 },
    { name: 'fails', count: 2, health: 'failed', since, extension: { ...version, ...exit51 } },
  ]);
  const page = await signedIn('viewer');
  await page.goto('/attention');
  await expect(titles(page)).toHaveText([
    exitTitle,
    'Several agents became unresponsive within a minute of each other',
    /^Failed to establish connection to .* as /,
  ]);
  const warns = row(page, 'Failed to establish connection');
  await expect(warns).toContainText(`${handler} 2.0.0.0`);
  await expect(warns).toContainText(/all with region=ap \(20\s?% of the fleet\)/);
  await expect(warns).toContainText(/Since .*latest VM .*\(1 h\)/);
  await expect(page.getByRole('link', { name: '65 VMs with problems' })).toBeVisible();
  await expect(page.getByRole('button', { name: /^(Assign|Snooze)/ }), 'viewers cannot act').toHaveCount(0);

  await warns.getByRole('button', { name: /^Failed to establish/ }).click();
  const details = warns.getByRole('button', { name: /^Details of warns-/ });
  await expect(details).toHaveCount(50);
  await expectAccessibleInBothThemes(page);
  await warns.getByRole('button', { name: 'Show more VMs' }).click();
  await expect(details).toHaveCount(60);
  await warns.getByRole('link', { name: '60 VMs' }).click();
  await expect(page.getByRole('status').filter({ hasText: '60 VMs match' })).toBeVisible();

  const german = await signedIn('viewer', { locale: 'de-DE' });
  await german.goto('/attention');
  await expect(german.getByRole('heading', { level: 2 }).nth(2)).toHaveText(/^Die Verbindung zu …/);
});

test('a snooze ends at its time, on request, or when the problem changes', { tag: '@long' }, async ({
  portal,
  signedIn,
}) => {
  const failing = { name: 'snooze', count: 2, health: 'failed', extension: { ...version, ...exit51 } } as const;
  await given(portal, [failing]);
  const page = await signedIn('operator');
  await page.goto('/attention');
  const snoozed = page.getByRole('region', { name: 'Snoozed' });
  const isListed = () => expect(titles(page)).toHaveText([exitTitle]);
  const isSnoozed = () => expect(page.getByRole('heading', { name: 'Every problem is snoozed' })).toBeVisible();

  await menuOf(page, 'Snooze').click();
  await page.getByRole('menuitem', { name: 'Until a specific time…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Snooze until' });
  await dialog.getByLabel('Date and time').fill('');
  await dialog.getByRole('button', { name: 'Snooze' }).click();
  await expect(dialog).toContainText('Enter a date and time.');
  await expectAccessibleInBothThemes(page);
  const day = new Date(Date.now() + 30 * 24 * 3_600_000);
  await dialog.getByLabel('Date and time').fill(`${day.toISOString().slice(0, 10)}T09:30`);
  await dialog.getByRole('button', { name: 'Snooze' }).click();
  await isSnoozed();
  await snoozed.getByRole('button', { name: /^Snoozed/ }).click();
  const shown = day.toLocaleDateString('en-GB', { month: 'short', day: 'numeric', timeZone: 'UTC' });
  await expect(snoozed).toContainText(`Snoozed by Operator until ${shown}, 09:30`);
  await menuOf(page, 'Snooze').click();
  await page.getByRole('menuitem', { name: 'End snooze' }).click();
  await isListed();

  await menuOf(page, 'Snooze').click();
  await page.getByRole('menuitem', { name: 'For 1 hour' }).click();
  await isSnoozed();
  // The message about the first snooze may still be visible, but only the last action can be undone.
  await page.getByRole('button', { name: 'Undo' }).click();
  await isListed();

  await menuOf(page, 'Snooze').click();
  await page.getByRole('menuitem', { name: 'Until the problem changes' }).click();
  await isSnoozed();
  await page.reload();
  await isSnoozed();
  await given(portal, [{ ...failing, name: 'one-more', count: 1 }]);
  await page.reload();
  await isListed();
});

test('a list of too many problems is truncated; a list that did not load says so and loads again', {
  tag: '@long',
}, async ({ portal, signedIn, console }) => {
  // The test above snoozed none of these problems.
  const causes = Array.from({ length: 103 }, (_, code) => ({ ...version, ...exit51, exitCode: code + 100 }));
  await given(
    portal,
    causes.map((extension, index) => ({ name: `many-${index}`, health: 'failed', extension })),
  );
  const page = await signedIn('viewer');
  await page.goto('/attention');
  await expect(titles(page)).toHaveCount(100);
  await expect(page.getByText('3 more problems are not shown.')).toBeVisible();

  console.allow(/status of 5\d\d|ERR_FAILED/);
  await withDatabase(portal, (client) => client.query('alter table attention_marks rename to attention_marks_away'));
  await page.goto('/attention');
  await expect(page.getByText('The problems did not load')).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await withDatabase(portal, (client) => client.query('alter table attention_marks_away rename to attention_marks'));
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(titles(page)).toHaveCount(100);

  await page.route(/attention\.vms/, (route) => route.abort());
  await titles(page).first().getByRole('button').click();
  await expect(page.getByText('The VMs did not load')).toBeVisible();
  await page.unroute(/attention\.vms/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('button', { name: /^Details of many-/ })).toHaveCount(1);
});

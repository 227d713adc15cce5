import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { withDatabase } from './support/database.ts';
import { expect, test } from './support/test.ts';

test('the VM page shows which limits were exceeded and what to do, in the reader’s language', { tag: '@long' }, async ({
  signedIn,
  api,
  portal,
  unique,
}) => {
  const vm = await api.createVm(`limits-${unique}`);
  // Inserts the rejections directly, because exceeding the limits (256 MiB of goal states per hour, 1 GiB of stored
  // reports) would take too long.
  await withDatabase(portal, async (client) => {
    await client.query(
      `insert into agent_refusals (vm_id, code, at)
       values ($1, 'goal_states_exceeded', now() - interval '5 minutes'), ($1, 'history_cleared', now() - interval '1 hour')`,
      [vm.id],
    );
    await client.query(
      `insert into report_history (vm_id, at, kind, extension, current, document)
       values ($1, now() - interval '3 hours', 'handler', 'probe', true, '{}')`,
      [vm.id],
    );
  });
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  await expect(
    page.getByText(
      /A change to .+ was rejected 5 min ago because the VM’s goal states exceeded 256 MiB within an hour\. Check who or what changes the VM so often/,
    ),
  ).toBeVisible();
  await expect(
    page.getByText(
      /The history of .+ goes back only to .+, because the reports of this VM exceeded 1,024 MiB; older reports were deleted 1 h ago\. Check which handler/,
    ),
  ).toBeVisible();
  await expectAccessibleInBothThemes(page);

  const german = await signedIn('operator', { locale: 'de-DE', viewport: { width: 390, height: 844 } });
  await german.goto(`/vms/${vm.id}`);
  await expect(
    german.getByText(/abgelehnt, weil die Zielzustände der VM innerhalb einer Stunde 256 MiB überschritten haben/),
  ).toBeVisible();
  await expect(
    german.getByText(/reicht nur bis .+ zurück, weil die Berichte dieser VM 1\.024 MiB überschritten haben/),
  ).toBeVisible();
});

test('a version whose lists are too large for a page says how much is omitted', { tag: '@long' }, async ({
  signedIn,
  api,
  portal,
  unique,
}) => {
  const handler = `Large${unique.replaceAll(/\W/g, '')}.Lab.Probe`;
  await api.publishSample('Acme.Lab.Probe', '1.0.0.0', handler);
  await withDatabase(portal, async (client) => {
    await client.query(
      `update handler_versions set files = (
         select jsonb_agg(jsonb_build_object('name', 'data/' || n || '-' || repeat('f', 900), 'size', 1, 'mode', null))
           from generate_series(1, 6000) n)
        where handler = $1`,
      [handler],
    );
    await client.query(
      `insert into resources (handler, version, lang, messages, warnings, revision, updated_at, updated_by)
       select $1, '1.0.0.0', lang, jsonb_build_object('large', repeat('x', 15 * 1024 * 1024)), '[]', 1, now(), 'Ada'
         from unnest(array['x-one', 'x-two']) lang`,
      [handler],
    );
  });
  const page = await signedIn('viewer');
  await page.goto(`/handlers/${handler}/1.0.0.0`);
  await expect(
    page.getByText(
      /^[\d,]+ files of the package are neither listed here nor counted in their folders, .+ limited to 4 MiB\.$/,
    ),
  ).toBeVisible();
  await expect(page.getByText('6,000 files', { exact: true }).first()).toBeVisible();
  await expect(
    page.getByText('1 language is not shown, because its messages are too large for this page.', { exact: false }),
  ).toBeVisible();
});

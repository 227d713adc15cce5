import { newKeyPair } from '#server/testing/key-pair.ts';
import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import type { CreatedVm } from './support/api.ts';
import { publishSamples, sampleGoal } from './support/samples.ts';
import { expect, test } from './support/test.ts';

const probe = 'Acme.Lab.Probe';

test.beforeAll(({ api }) => publishSamples(api, [probe]));

type Report = (file: unknown, more?: object) => Promise<number>;

/** Enrolls a machine. Returns a function that reports a status file and, if given, other fields of a report. */
async function machineOf(gatewayUrl: string, vm: CreatedVm): Promise<Report> {
  const { certificate } = newKeyPair();
  const enrollment = { enrollmentToken: vm.enrollmentToken, certificate, agent: { name: 'machine', version: '1.0' } };
  const answer = await fetch(`${gatewayUrl}/agent/v1/enroll`, { method: 'POST', body: JSON.stringify(enrollment) });
  const { credential } = (await answer.json()) as { credential: string };
  const headers = { authorization: `Bearer ${credential}` };
  await fetch(`${gatewayUrl}/agent/v1/goal-state`, { headers });
  const about = { extension: 'watch', sequenceNumber: 1 };
  return async (file, more = {}) => {
    const handlers = [{ ...about, version: '1.0.0.0', state: 'enabled', command: 'enable', exitCode: 0 }];
    const report = { handlers, statuses: [{ ...about, ageSeconds: 0, file }], ...more };
    return (await fetch(`${gatewayUrl}/agent/v1/reports`, { method: 'POST', headers, body: JSON.stringify(report) }))
      .status;
  };
}

const withMessage = (message: string) => ({ formattedMessage: { lang: 'en', message } });

test('a status shows line breaks, JSON trees, whole names, failed parts and why it was rejected', {
  tag: '@long',
}, async ({ signedIn, portal, api, unique }) => {
  const vm = await api.createVm(`said-${unique}`);
  await api.setExtension(vm.id, 'watch', sampleGoal(probe, { target: 'www.example.net' }));
  const report = await machineOf(portal.gatewayUrl, vm);
  const name = 'PatchAssessmentSummaryOfAllRepositories';
  const patches = JSON.stringify({ activityId: 'a-1', patches: [{ name: 'bash', state: 'Pending' }], done: true });
  const file = (code: unknown) => [
    {
      version: '1.0',
      timestampUTC: '2026-01-01T00:00:00Z',
      status: {
        status: 'success',
        code,
        ...withMessage('first line\nsecond line'),
        substatus: [
          { name, status: 'success', code: '0', ...withMessage(patches) },
          { name: 'disk', status: 'error', code: 28, ...withMessage('/dev/sdb1 is full') },
        ],
      },
    },
  ];
  expect(await report(file('0'))).toBe(204);
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  const card = page.getByRole('article', { name: 'watch' });
  await expect(page.getByRole('heading', { name: 'Why the VM is degraded' })).toBeVisible();
  await expect(page.getByText('is degraded: its substatus')).toContainText('disk');
  await expect(card.getByText('first line')).toHaveCSS('white-space-collapse', 'preserve');

  const cut = await card.getByText(name).evaluate((element) => element.scrollWidth > element.clientWidth);
  expect(cut).toBe(false);
  await expect(card.getByText('Pending')).toHaveCount(0);
  await card.getByRole('button', { name: 'patches [1]' }).click();
  await card.getByRole('button', { name: '0 {2}' }).click();
  await expect(card.getByText('Pending')).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await card.getByRole('button', { name: 'Show raw text' }).click();
  await expect(card.getByText(patches)).toBeVisible();
  await card.getByRole('button', { name: 'Show as tree' }).click();

  expect(await report(file('E7'))).toBe(207);
  await expect(card.getByText('Status file rejected')).toBeVisible();
  await expect(card).toContainText('/0/status/code This value must be a number.');
  await expect(card).toContainText('first line');
  await expectAccessibleInBothThemes(page);
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

test('AZ-G8 a VM whose restart is pending says so, and which handler requested it, until the restart', async ({
  signedIn,
  portal,
  api,
  unique,
}) => {
  const vm = await api.createVm(`restart-${unique}`);
  await api.setExtension(vm.id, 'watch', sampleGoal(probe, { target: 'www.example.net' }));
  const report = await machineOf(portal.gatewayUrl, vm);
  const status = { status: 'success', code: 0, ...withMessage('installed') };
  const file = [{ version: '1.0', timestampUTC: '2026-01-01T00:00:00Z', status }];
  const request = { handler: probe, version: '1.0.0.0', extensions: ['watch'], requestedSecondsAgo: 60 };
  expect(await report(file, { pendingRestart: [request] })).toBe(204);

  const page = await signedIn('viewer');
  await page.goto(`/vms/${vm.id}`);
  const banner = page.getByRole('status').filter({ hasText: 'Restart pending' });
  await expect(banner).toContainText(`${probe} 1.0.0.0 requested a restart`);
  await expectAccessibleInBothThemes(page);

  expect(await report(file, { pendingRestart: [] })).toBe(204);
  await expect(banner).toHaveCount(0);
});

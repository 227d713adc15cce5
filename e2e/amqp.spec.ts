import { readFileSync } from 'node:fs';
import { amqpKeys } from '#agent/channel/amqp-settings.ts';
import { type FalseBroker, startFalseBroker } from '#server/testing/false-broker.ts';
import { createAuthority, type TlsFiles } from '#server/testing/tls-authority.ts';
import { AgentProcess } from './amqp/agent-process.ts';
import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import { type Portal, startPortal } from './support/portal.ts';
import { test as base, expect } from './support/test.ts';

interface Broker extends FalseBroker {
  /** Path of the certificate of the authority that the portal and the agent trust. */
  ca: string;
  certificates: Record<'authority' | 'expired' | 'name', TlsFiles>;
}

/** A portal that is configured for a broker whose certificate it must not accept. */
const test = base.extend<object, { broker: Broker; portal: Portal }>({
  broker: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies from the pattern
    async ({}, use) => {
      const [authority, other] = [await createAuthority(), await createAuthority()];
      const certificates = {
        authority: await other.issue('localhost'),
        expired: await authority.issue('localhost', -1),
        name: await authority.issue('broker.example.net'),
      };
      const broker = await startFalseBroker(certificates.authority);
      await use({ ...broker, ca: authority.ca, certificates });
      await broker.close();
    },
    { scope: 'worker' },
  ],
  portal: [
    async ({ broker }, use) => {
      const portal = await startPortal({
        ANNEX_AMQP_URL: `amqps://annex:secret@localhost:${broker.port}`,
        ANNEX_AMQP_CA: broker.ca,
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
      });
      await use(portal);
      await portal.remove();
    },
    { scope: 'worker', timeout: 300_000 },
  ],
});

/** Maximum time until the conductor tries again, on a busy machine. */
const patience = { timeout: 60_000 };

test('MU-18 MU-65 a broker with a certificate that cannot be verified is never used: the page and the doctor of the agent say why, and no setting changes this', {
  tag: '@long',
}, async ({ broker, api, signedIn, unique }) => {
  test.setTimeout(240_000);
  const vm = await api.createVm(`amqp-${unique}`);
  const agent = new AgentProcess({
    ...{ amqpHost: 'localhost', amqpPort: broker.port, amqpCa: broker.ca, amqpInputQueue: `annex-${vm.id}` },
  });
  const admin = await signedIn('admin');
  await admin.goto('/settings/amqp');
  const card = admin.locator('section', { hasText: 'AMQP broker' });
  try {
    for (const [kind, next, detail] of [
      ['authority', 'not signed by a trusted authority. Set ANNEX_AMQP_CA', /signature|verify|self.signed/],
      ['expired', 'has expired or is not yet valid. Renew the certificate', 'certificate has expired'],
      ['name', 'is for another host name. In ANNEX_AMQP_URL, use a host name from the certificate', 'altnames'],
    ] as const) {
      await test.step(`another ${kind}`, async () => {
        broker.use(broker.certificates[kind]);
        await expect(card).toContainText(next, patience);
        await expect(card).toContainText('Not connected');
        await expect(card).toContainText(detail);
        const [finding] = await agent.doctor({ NODE_TLS_REJECT_UNAUTHORIZED: '0' });
        expect(finding).toMatchObject({ verdict: 'bad', toDo: expect.stringContaining('certificate') });
      });
    }
    expect(broker.received(), 'neither portal nor agent has signed in').toBe('');
    await expectAccessibleInBothThemes(admin);

    // A new setting must be added here, after a check that it does not turn verification off.
    const words = ['Host', 'Port', 'Tls', 'Ca', 'VirtualHost', 'Login', 'PasswordFile', 'InputQueue'];
    const more = ['ResultExchange', 'ResultRoutingKey', 'DynamicReply', 'HeartbeatSeconds'];
    expect(amqpKeys).toEqual([...words, ...more].map((word) => `amqp${word}`));
    const variables = new Set(readFileSync('server/platform/env.ts', 'utf8').match(/ANNEX_AMQP_\w+/g));
    expect([...variables].sort()).toEqual(['CA', 'QUEUE_PREFIX', 'RESULTS', 'URL'].map((name) => `ANNEX_AMQP_${name}`));
  } finally {
    await agent.remove();
  }
});

test('an admin chooses AMQP for a VM, everyone sees why its executions wait, and the VM returns to HTTPS', {
  tag: '@long',
}, async ({ api, signedIn, console, unique }) => {
  console.allow(/status of 422/);
  const vm = await api.createVm(`amqp-${unique}`);
  const admin = await signedIn('admin');
  await admin.goto(`/vms/${vm.id}?tab=executions`);
  const card = admin.getByRole('region', { name: 'Channel' });
  await expect(card).toContainText('fetches execution plans from the portal');
  await card.getByRole('button', { name: 'Use AMQP' }).click();
  const dialog = admin.getByRole('dialog', { name: `Use AMQP for ${vm.name}` });
  await dialog.getByLabel('Agent').selectOption('Murano agent');
  await expect(dialog.getByText('Plans that the Murano agent cannot run are rejected')).toBeVisible();
  await dialog.getByLabel('Queue').fill('not a queue');
  await dialog.getByRole('button', { name: 'Use AMQP' }).click();
  await expect(dialog.getByLabel('Queue')).toHaveAttribute('aria-invalid', 'true');
  await expectAccessibleInBothThemes(admin);
  await dialog.getByLabel('Queue').fill('');
  await dialog.getByRole('button', { name: 'Use AMQP' }).click();
  await expect(card).toContainText(`annex-${vm.id}`);
  await expect(card).toContainText('Not connected');
  const banner = admin.getByRole('status').filter({ hasText: 'No execution plans have been sent over AMQP since' });
  await expect(banner).toContainText('The broker’s certificate');
  await expectAccessibleInBothThemes(admin);

  const viewer = await signedIn('viewer', { locale: 'de-DE', viewport: { width: 390, height: 844 } });
  await viewer.goto(`/vms/${vm.id}?tab=executions`);
  await expect(viewer.getByRole('region', { name: 'Kanal' })).toContainText('Murano-Agent');
  await expect(viewer.getByRole('region', { name: 'Kanal' }).getByRole('button')).toHaveCount(0);
  await viewer.goto('/executions');
  await expect(viewer.getByText('werden keine Ausführungspläne über AMQP gesendet')).toBeVisible();
  await expect(viewer.getByRole('link', { name: 'Verbindung anzeigen' })).toHaveCount(0);
  await expectAccessible(viewer);
  await viewer.goto('/settings/amqp');
  await expect(viewer.getByText('Nur Admins können')).toBeVisible();

  const { id } = await api.call<{ id: string }>('POST', `/vms/${vm.id}/executions`, {
    body: { plan: { FormatVersion: '2.0.0', Name: 'Restart', Body: 'return 1' } },
  });
  await admin.goto(`/vms/${vm.id}/executions/${id}`);
  await expect(banner, 'an execution that waits for the broker says so').toContainText('The broker’s certificate');
  await expect(admin.getByText('No machine yet')).toHaveCount(0);
  await expectAccessibleInBothThemes(admin);
  await api.call('POST', `/vms/${vm.id}/executions/${id}/cancel`, { body: {} });
  await expect(admin.getByText('The execution was canceled.')).toBeVisible();
  await expect(banner).toHaveCount(0);
  await admin.goto(`/vms/${vm.id}?tab=executions`);

  await banner.getByRole('link', { name: 'Show the connection' }).click();
  await expect(admin).toHaveURL('/settings/amqp');
  await admin.goBack();
  await card.getByRole('button', { name: 'Use HTTPS' }).click();
  await admin.getByRole('alertdialog').getByRole('button', { name: 'Use HTTPS' }).click();
  await expect(card).toContainText('fetches execution plans from the portal');
  await expect(banner).toHaveCount(0);
});

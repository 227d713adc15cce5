import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import { publishSamples, sampleGoal } from './support/samples.ts';
import { StockAgent } from './support/stock-agent.ts';
import { expect, test } from './support/test.ts';

const probe = 'Acme.Lab.Probe';

test.beforeAll(({ api }) => publishSamples(api, [probe]));

test('a VM gets a stock agent, whose English messages are shown in German, marked as recovered', {
  tag: '@long',
}, async ({ signedIn, portal, api, unique }) => {
  const vm = await api.createVm(`azure-${unique}`);
  await api.setExtension(vm.id, 'watch', sampleGoal(probe, { target: 'www.example.net' }));
  const page = await signedIn('operator', { locale: 'de-AT' });
  await page.goto(`/vms/${vm.id}`);

  await page.getByRole('button', { name: 'Azure-Linux-Agenten verbinden' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('168.63.129.16');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Token erstellen' }).click();
  const command = dialog.getByText('annex_wire_');
  const token = /annex_wire_\S+/.exec((await command.textContent()) ?? '')?.[0] ?? '';
  await expect(dialog.getByRole('region', { name: 'Dienst des Forwarders' })).toContainText(`--vm ${vm.id}`);
  await expect(dialog.getByRole('region', { name: 'konfigurieren Sie den Azure-Linux-Agenten' })).toContainText(
    'apt-get install --yes waagent',
  );
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Schließen' }).last().click();
  await expect(page.getByText(`Der Agent von ${vm.name} hat sich noch nicht verbunden`)).toBeVisible();

  const agent = new StockAgent(portal.gatewayUrl, vm.id, token);
  await agent.report({
    status: 'success',
    text: 'Watching www.example.net. Times enabled: 1.',
    substatus: [
      { name: 'target', text: 'www.example.net answers.' },
      { name: 'other', text: 'Said in no resource file.' },
    ],
  });
  const card = page.getByRole('article', { name: 'watch' });
  await expect(card.getByText('www.example.net wird beobachtet. Aktivierungen: 1.')).toHaveAttribute('lang', 'de');
  await expect(card).toContainText('ID ermittelt');
  await expect(card).toContainText('www.example.net antwortet.');
  await expect(card.getByText('Said in no resource file.')).toHaveAttribute('lang', 'en-US');
  await expect(card.getByRole('button', { name: /^ID ermittelt/ })).toHaveCount(2);
  await card
    .getByRole('button', { name: /^ID ermittelt/ })
    .first()
    .click();
  await expect(page.getByRole('dialog')).toContainText('Watching www.example.net. Times enabled: 1.');
  await expectAccessible(page);
  await page.keyboard.press('Escape');

  const facts = page.getByRole('region', { name: 'Azure-Linux-Agent' });
  await expect(facts).toContainText('WALinuxAgent 2.7.3.0');
  await expect(facts).toContainText('Zuletzt verarbeiteter Zielzustand3, vor');
  await expectAccessibleInBothThemes(page);

  await page.getByRole('link', { name: 'Ausgabe' }).click();
  await expect(page.getByText('kann keine Protokollordner senden')).toContainText('/var/log/azure');
  await expect(page.getByRole('button', { name: /^Protokolle anfordern/ })).toHaveCount(0);
  await expectAccessible(page);
});

import { newKeyPair } from '#server/testing/key-pair.ts';
import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { expect, test } from './support/test.ts';

/** A message with 64 placeholders, which makes every status or substatus that uses it 16 KiB long. */
const flood = [{ version: 1.0, lang: 'en', messages: [{ id: 'flood', text: '{0}'.repeat(64) }] }];
const turned = 'disk\u202e txt.exe';

test('a page with too many reports says what it omits; texts cannot change its direction', { tag: '@long' }, async ({
  signedIn,
  api,
  unique,
}) => {
  const handler = `Flood${unique.replaceAll(/\W/g, '')}.Lab.Probe`;
  await api.publishSample('Acme.Lab.Probe', '1.0.0.0', handler);
  await api.call('PUT', `/handlers/${handler}/versions/1.0.0.0/resources/en`, { body: flood });
  const vm = await api.createVm(`flood-${unique}`);
  const settings = { publicSettings: { target: 'www.example.net' } };
  await api.setExtension(vm.id, 'probe', { handler, version: '1.0.0.0', settings });

  const door = `${api.portal.url}/agent/v1`;
  const enrolled = await fetch(`${door}/enroll`, {
    method: 'POST',
    body: JSON.stringify({
      enrollmentToken: vm.enrollmentToken,
      certificate: newKeyPair().certificate,
      agent: { name: 'flood', version: '1.0' },
    }),
  });
  const { credential } = (await enrolled.json()) as { credential: string };
  const headers = { authorization: `Bearer ${credential}` };
  await fetch(`${door}/goal-state`, { headers });
  const message = { id: 'flood', params: ['x '.repeat(450)] };
  const substatus = [
    { name: turned, status: 'error', formattedMessage: { lang: 'und-DE', message: turned } },
    ...Array.from({ length: 600 }, (_, index) => ({ name: `part-${index}`, status: 'success', message })),
  ];
  const status = { status: 'error', code: 1, message, substatus };
  const file = [{ version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status }];
  const statuses = [{ extension: 'probe', sequenceNumber: 1, ageSeconds: 1, readSecondsAgo: 0, file }];
  const answer = await fetch(`${door}/reports`, { method: 'POST', headers, body: JSON.stringify({ statuses }) });
  expect(answer.status).toBe(204);

  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  const card = page.getByRole('article', { name: 'probe' });
  await expect(card.getByText(/^\d+ substatuses are not shown, because this page is limited to 4 MiB\./)).toBeVisible();
  await expect(card.getByText('truncated at 16 KiB')).toBeVisible();
  await expect(card.getByText(`\u2068${turned}\u202c\u2069`).first()).toBeVisible();
  await expectAccessibleInBothThemes(page);
});

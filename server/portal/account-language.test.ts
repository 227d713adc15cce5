import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openSignIn } from '#server/auth/index.ts';
import type { Context } from '#server/domain/context.ts';
import { setResources } from '#server/domain/localization/index.ts';
import { givenAgent, givenProbe } from '#server/testing/agent-door.ts';
import { openBrowser } from '#server/testing/browser.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { openPortalDoors, type PortalDoors } from '#server/testing/portal-doors.ts';

let portal: PortalDoors;
let ctx: Context;
let vmId: string;

beforeAll(async () => {
  portal = await openPortalDoors();
  ctx = await testContext({ services: portal.services });
  await givenVersion(ctx.db);
  const at = { handler: 'Acme.Lab.Probe', version: '1.0.0.0' };
  for (const [lang, text] of Object.entries({ en: 'Down', de: 'Ausgefallen' })) {
    await setResources(ctx, { ...at, lang, file: [{ version: 1.0, lang, messages: [{ id: '1215', text }] }] });
  }
  const agent = await givenAgent(ctx, { url: `${portal.url}/agent/v1` }, 'worded');
  vmId = agent.vmId;
  await givenProbe(ctx, vmId);
  await agent.call('/goal-state');
  const status = { status: 'error', message: { id: '1215' } };
  const file = [{ version: 1, timestampUTC: '', status }];
  const statuses = [{ extension: 'probe', sequenceNumber: 1, ageSeconds: 1, file }];
  expect((await agent.call('/reports', { method: 'POST', body: JSON.stringify({ statuses }) })).status).toBe(204);
});
afterAll(() => portal.close());
beforeEach(() => choose(null));

/** A browser's headers: the session, and English in both the cookie and Accept-Language. */
const inEnglish = (session: string) => ({ cookie: `${session}; annex-language=en`, 'accept-language': 'en' });

const choose = (language: unknown, session = portal.cookies.viewer) =>
  portal.fetch('/api/trpc/account.setLanguage', {
    method: 'POST',
    headers: { ...inEnglish(session), 'content-type': 'application/json', origin: 'http://annex.test' },
    body: JSON.stringify({ json: { language } }),
  });

async function read(procedure: string, input: unknown, headers: Record<string, string>): Promise<string> {
  const asked = encodeURIComponent(JSON.stringify({ json: input }));
  return (await portal.fetch(`/api/trpc/${procedure}?input=${asked}`, { headers })).text();
}
const view = (headers: Record<string, string>) => read('instanceViews.get', { vmId }, headers);

test("the account's language applies to messages and errors, before cookie and browser", async () => {
  const browser = inEnglish(portal.cookies.viewer);
  expect(await view(browser)).toContain('Down');
  expect(await read('vms.get', { vmId: 'none' }, browser)).toContain('is not valid');

  expect((await choose('DE')).status).toBe(200);
  expect(await view(browser)).toContain('Ausgefallen');
  const problem = await read('vms.get', { vmId: 'none' }, browser);
  expect(problem).not.toContain('is not valid');
  expect(problem).toContain('nicht gültig');
  const upload = await portal.fetch('/upload/handlers/Acme.Lab.Probe/versions/1.0.0.0/resources/en', {
    method: 'PUT',
    headers: { ...browser, origin: 'http://annex.test' },
  });
  expect([upload.status, upload.headers.get('content-language')]).toEqual([403, 'de']);
});

test("the account's language applies in another browser after signing in, not before", async () => {
  await choose('de');
  const browser = openBrowser(portal.services, openSignIn(portal.services, pino({ level: 'silent' })));
  await browser.post('/sign-in/email', { email: 'viewer@example.org', password: 'correct horse battery' });
  const session = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  expect(await view(inEnglish(session))).toContain('Ausgefallen');
  expect(await view(inEnglish(portal.cookies.operator))).toContain('Down');
  expect(await read('vms.get', { vmId }, inEnglish(''))).toContain('Sign in');
});

test('without a choice the cookie decides, then the browser', async () => {
  const { viewer } = portal.cookies;
  expect(await view({ cookie: `${viewer}; annex-language=de`, 'accept-language': 'en' })).toContain('Ausgefallen');
  expect(await view({ cookie: viewer, 'accept-language': 'de' })).toContain('Ausgefallen');
  await choose('de');
  await choose(null);
  expect(await view(inEnglish(viewer))).toContain('Down');
});

test('a call with an API token follows Accept-Language', async () => {
  await choose('de', portal.cookies.admin);
  const answer = await portal.fetch(`/api/v1/vms/${vmId}/instance-view`, {
    headers: { authorization: `Bearer ${portal.tokens.admin}`, 'accept-language': 'en' },
  });
  expect(await answer.text()).toContain('Down');
});

test.each([
  ['without text', 'fr'],
  ['for tests', 'en-XA'],
  ['without a language', 'und'],
  ['empty', ''],
  ['of another type', 7],
  ['too long', 'x'.repeat(1_000)],
])('a tag %s is rejected and changes nothing', async (_what, language) => {
  await choose('de');
  const answer = await choose(language);
  expect(answer.status).toBe(422);
  expect(await answer.text()).toContain('/language');
  expect(await view(inEnglish(portal.cookies.viewer))).toContain('Ausgefallen');
});

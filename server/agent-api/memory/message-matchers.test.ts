import { beforeAll, expect, test } from 'vitest';
import type { Services } from '#server/domain/context.ts';
import { setResources } from '#server/domain/localization/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { MessageMatchers } from './message-matchers.ts';

let services: Services;
const start = new Date();
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const version = '1.0.0.0';

beforeAll(async () => {
  services = await testServices();
});

async function givenMessages(handler: string, lang: string, messages: Record<string, string>): Promise<void> {
  await setResources(await testContext({ services }), {
    handler,
    version,
    lang,
    file: [{ version: 1, lang, messages: Object.entries(messages).map(([id, text]) => ({ id, text })) }],
  });
}

test('new and changed resource files are found within a minute', async () => {
  const handler = 'Acme.Recovery.Kept';
  await givenVersion(services.db, { handler });
  const matchers = new MessageMatchers(services.db);
  const match = async (text: string, now: Date) =>
    (await matchers.find([{ handler, version }], now)).get(`${handler}-${version}`)?.match(text);
  expect(await match('The disk is full.', start)).toBeUndefined();
  await givenMessages(handler, 'en', { full: 'The disk is full.' });
  expect(await match('The disk is full.', later(30))).toBeUndefined();
  expect(await match('The disk is full.', later(61))).toMatchObject({ id: 'full' });
  await givenMessages(handler, 'en', { full: 'No room is left.' });
  expect(await match('The disk is full.', later(90))).toMatchObject({ id: 'full' });
  expect(await match('The disk is full.', later(122))).toBeNull();
  expect(await match('No room is left.', later(122))).toMatchObject({ id: 'full' });
});

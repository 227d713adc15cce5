import { eq } from 'drizzle-orm';
import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { auditEntries } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { bearerAuthentication } from '#server/rest/authenticate-bearer.ts';
import { createRestHandler } from '#server/rest/door.ts';
import { readActs } from '#server/testing/acts.ts';
import { openBrowser, refusalOf } from '#server/testing/browser.ts';
import { testServices } from '#server/testing/context.ts';
import { bootstrapPeople, openSignIn, type SignIn } from './index.ts';

const person = { email: 'ada@example.org', password: 'correct horse battery' };
const wrong = { email: person.email, password: 'a wrong pass that was typed' };
let services: Services;
let signIn: SignIn;
let lines: string[];

beforeEach(async () => {
  services = await testServices({ config: { bootstrap: { token: null, person } } });
  await bootstrapPeople(services);
  lines = [];
  signIn = openSignIn(services, pino({}, { write: (line: string) => lines.push(line) }));
});

const lockouts = () => readActs(services.db, eq(auditEntries.action, 'sign-in.lock-out'));
const warnings = () => lines.filter((line) => line.includes('"level":40'));

test('failed sign-ins are counted, and logged without the input', async () => {
  const browser = openBrowser(services, signIn, '198.51.100.7');
  for (let n = 0; n < 3; n += 1) await browser.post('/sign-in/email', wrong);
  expect((await browser.post('/sign-in/email', person)).status).toBe(204);
  expect(signIn.attempts.counts()).toMatchObject({ failed: 3, lockouts: 0, tokens: 0 });
  expect(warnings()).toHaveLength(3);
  expect(warnings()[0]).toContain('"address":"198.51.100.7"');
  expect(lines.join()).not.toMatch(/a wrong pass|correct horse|ada@example\.org/);
});

test('a lockout is counted, logged and recorded in the activity log once, however many retries follow', async () => {
  const browser = openBrowser(services, signIn, '198.51.100.7');
  for (let n = 0; n < 10; n += 1) await browser.post('/sign-in/email', wrong);
  for (let n = 0; n < 5; n += 1) {
    expect(await refusalOf(await browser.post('/sign-in/email', person))).toEqual([429, 'too_many_attempts']);
  }
  expect(signIn.attempts.counts()).toMatchObject({ failed: 10, lockouts: 1 });
  expect(await lockouts()).toMatchObject([
    { actorKind: 'system', targetKind: 'sign-in', details: { address: '198.51.100.7' }, address: '198.51.100.7' },
  ]);
  expect(warnings()).toHaveLength(11);
});

test('an attacker with many addresses does not fill the activity log', async () => {
  const silent = { ...services, log: pino({ level: 'silent' }) };
  const handle = createRestHandler(silent, bearerAuthentication(silent, signIn.attempts));
  const guess = (address: string) =>
    handle(new Request('http://localhost/api/v1/vms', { headers: { authorization: 'Bearer annex_token_guessed' } }), {
      remoteAddress: address,
    });
  for (let host = 1; host <= 25; host += 1) {
    const address = `198.51.100.${host}`;
    for (let n = 0; n < 30; n += 1) expect((await guess(address)).status).toBe(401);
    for (let n = 0; n < 2; n += 1) expect((await guess(address)).status).toBe(429);
  }
  expect(signIn.attempts.counts()).toMatchObject({ failed: 0, lockouts: 25, tokens: 750 });
  expect(await lockouts()).toHaveLength(20);
  expect(lines.join()).not.toContain('guessed');
});

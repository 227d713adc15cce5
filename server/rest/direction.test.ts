import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenVersion } from '#server/testing/handlers.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

const turned = 'Acme\u202emca';
let door: RestDoor;

beforeAll(async () => {
  door = await openRestDoor();
  await givenVersion(door.services.db);
});
afterAll(() => door.close());

const rollout = {
  name: 'probe 1.1',
  select: { include: { handler: 'Acme.Lab.Probe' } },
  change: { kind: 'retry', handler: 'Acme.Lab.Probe' },
};
const withdraw = '/handlers/Acme.Lab.Probe/versions/1.0.0.0/withdraw';

test.each([
  ['the name of a publisher', '/publishers', { namespace: 'Other.Lab', displayName: turned }, '/displayName'],
  ['the name of a token', '/tokens', { name: turned, role: 'viewer' }, '/name'],
  ['the name of a tag', '/vms', { name: 'web-1', tags: { [turned]: 'x' } }, '/tags'],
  ['the value of a tag', '/vms', { name: 'web-1', tags: { env: turned } }, '/tags/env'],
  ['the name of a rollout', '/rollouts', { ...rollout, name: turned }, '/name'],
  ['the note of a rollout', '/rollouts', { ...rollout, note: turned }, '/note'],
  [
    'the name of a ring',
    '/rollouts',
    { ...rollout, rings: [{ name: turned, upTo: { percent: 100 } }] },
    '/rings/0/name',
  ],
  ['a reason', withdraw, { reason: turned }, '/reason'],
])('%s cannot change the direction of the text next to it', async (_, path, body, place) => {
  const { status, body: problem } = await door.call('POST', path, { body });
  expect([status, problem]).toMatchObject([422, { errors: [{ path: place, code: 'text_direction' }] }]);
});

test.each([
  ['a VM', '/vms', { name: turned }],
  ['a namespace', '/publishers', { namespace: turned, displayName: 'Acme' }],
])('the name of %s accepts only letters, digits and a few marks', async (_, path, body) => {
  expect((await door.call('POST', path, { body })).status).toBe(422);
});

test('names in right-to-left scripts are accepted', async () => {
  const body = { namespace: 'Hebrew.Lab', displayName: 'חברה \u200fאחת' };
  expect((await door.call('POST', '/publishers', { body })).status).toBe(201);
});

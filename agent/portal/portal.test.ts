import { expect, test } from 'vitest';
import type { PortalResponse } from './call.ts';
import { openPortal } from './portal.ts';

const portalRespondingWith = (answer: Partial<PortalResponse>) =>
  openPortal(
    'http://portal.test',
    'credential',
    () => 'instance; 1',
    async () => ({ status: 200, headers: {}, text: '', ...answer }),
  );

test('a requested delay is limited to an hour, because a timer treats months as no delay', async () => {
  const portal = portalRespondingWith({ status: 503, headers: { 'retry-after': '3000000' } });
  await expect(portal.goalState(null, 0)).rejects.toMatchObject({ retryAfter: 3600 });
  const polled = await portalRespondingWith({ status: 304, headers: { 'annex-poll-after': '1e12' } }).goalState(
    '"e1"',
    0,
  );
  expect(polled.pollAfter).toBe(3600);
});

test('the ETag of a compressed goal state is the one that the portal sent', async () => {
  const { document } = await portalRespondingWith({ headers: { etag: 'W/"e1"' }, text: '{}' }).goalState(null, 0);
  expect(document?.etag).toBe('"e1"');
});

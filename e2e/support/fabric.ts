import { type Portal, startPortal } from './portal.ts';
import { test as base } from './test.ts';

/** Journeys on a portal whose fabric starts an agent for each machine of a model, and serves the public addresses. */
export const test = base.extend<object, { portal: Portal }>({
  portal: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies from the pattern
    async ({}, use) => {
      const portal = await startPortal({ ANNEX_FABRIC: 'spawn', ANNEX_FABRIC_ADDRESSES: '127.85.0.0/16' });
      await use(portal);
      await portal.remove();
    },
    { scope: 'worker', timeout: 300_000 },
  ],
});

export { expect } from './test.ts';

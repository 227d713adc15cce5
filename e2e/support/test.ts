import { type BrowserContextOptions, test as base, type Page } from '@playwright/test';
import { AgentProcess, type EnrollingVm } from './agent-process.ts';
import { Api } from './api.ts';
import { ConsoleWatch } from './console-watch.ts';
import { People, type Role } from './people.ts';
import { type Portal, startPortal } from './portal.ts';
import { openedWhole } from './whole-page.ts';

interface PortalFixtures {
  /** Tests of one group share portals. Each group has separate portals, without data from other groups. */
  portalGroup: string;
  /** A real portal with a new database, shared by the tests of one worker. */
  portal: Portal;
  api: Api;
  people: People;
}

interface JourneyFixtures {
  /** Errors of the pages, checked at the end of every test. */
  console: ConsoleWatch;
  /** The portal's output, attached to a failed test. */
  portalLog: undefined;
  /** Opens a page for a member with this role, in a separate browser context. */
  signedIn: (role: Role, options?: BrowserContextOptions & { namespaces?: string[] }) => Promise<Page>;
  /** Enrolls a VM's machine and runs its agent until the test ends. */
  startAgent: (vm: EnrollingVm) => Promise<AgentProcess>;
  /** A word that is unique within the portal, for use in names. */
  unique: string;
}

let counter = 0;

export const test = base.extend<JourneyFixtures, PortalFixtures>({
  portalGroup: ['shared', { scope: 'worker', option: true }],
  portal: [
    async ({ portalGroup: _ }, use) => {
      const portal = await startPortal();
      await use(portal);
      await portal.remove();
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  api: [({ portal }, use) => use(new Api(portal)), { scope: 'worker' }],
  people: [({ portal }, use) => use(new People(portal)), { scope: 'worker' }],

  baseURL: ({ portal }, use) => use(portal.url),

  console: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies from the pattern
    async ({}, use) => {
      const watch = new ConsoleWatch();
      await use(watch);
      watch.expectQuiet();
    },
    { auto: true },
  ],

  portalLog: [
    async ({ portal }, use, testInfo) => {
      await use(undefined);
      if (testInfo.status === testInfo.expectedStatus) return;
      await testInfo.attach('portal.log', { path: portal.logFile, contentType: 'text/plain' });
    },
    { auto: true },
  ],

  page: async ({ page, console }, use) => {
    console.watch(page);
    await use(openedWhole(page));
  },

  signedIn: async ({ browser, people, console }, use) => {
    const pages: Page[] = [];
    await use(async (role, { namespaces, ...options } = {}) => {
      const context = await browser.newContext({ ...(await people.browserOf(role, namespaces)), ...options });
      const page = openedWhole(await context.newPage());
      console.watch(page);
      pages.push(page);
      return page;
    });
    for (const page of pages) await page.context().close();
  },

  startAgent: async ({ portal }, use) => {
    const agents: AgentProcess[] = [];
    await use(async (vm) => {
      const agent = await AgentProcess.start(portal, vm);
      agents.push(agent);
      return agent;
    });
    await Promise.all(agents.map((agent) => agent.remove()));
  },

  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies from the pattern
  unique: async ({}, use) => {
    counter += 1;
    await use(`t${counter}`);
  },
});

export { expect } from '@playwright/test';

import { defineConfig } from '@playwright/test';
import { chromiumLaunch } from './e2e/support/browser.ts';
import { testsLeftOut } from './server/testing/programs.ts';
import { runsLong, shortJourneys } from './server/testing/runs-long.ts';

export default defineConfig({
  testDir: './e2e',
  globalSetup: [
    './server/testing/programs-setup.ts',
    './server/testing/agent-program.ts',
    './e2e/support/database-template.ts',
  ],
  testMatch: '**/*.spec.ts',
  grep: runsLong ? /./ : shortJourneys,
  // Skips the journeys that need a program that this machine lacks.
  testIgnore: (await testsLeftOut()).map((file) => `**/${file}`),
  // Playwright empties this folder when it starts, while the stock agent's test may be writing to the folder above.
  outputDir: './test-results/journeys',
  // Each worker has its own portal and database. There is one more worker than CI has cores, because workers often only
  // wait.
  workers: 3,
  fullyParallel: false,
  forbidOnly: true,
  retries: 0,
  timeout: 120_000,
  expect: { timeout: 10_000 },
  reporter: 'list',
  use: {
    launchOptions: await chromiumLaunch(),
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    viewport: { width: 1440, height: 900 },
    // Chromium repaints an animation 60 times a second, which would take a tenth of the processor while journeys wait.
    reducedMotion: 'reduce',
    actionTimeout: 10_000,
    navigationTimeout: 20_000,
    screenshot: 'only-on-failure',
    // Recording makes every journey take half as long again. Turn it on with `--trace retain-on-failure`.
    trace: 'off',
  },
});

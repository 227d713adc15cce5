import { defineConfig } from 'vitest/config';
import { testsLeftOut } from './server/testing/programs.ts';

export default defineConfig({
  test: {
    include: ['**/*.test.{ts,tsx}'],
    exclude: ['**/node_modules/**', '.next/**', '.data/**', 'e2e/**', ...(await testsLeftOut())],
    globalSetup: ['./server/testing/programs-setup.ts', './db/testing/global-setup.ts'],
    // Two cores: a database, its clients and the tests share them; more workers only wait for each other.
    maxWorkers: 2,
    // A process for each file spent as long on loading our modules anew as on the tests. What a file leaves in a module,
    // such as a clock or a variable of the environment, it puts back.
    isolate: false,
    // An agent of a test that runs as root leaves the machine's own folders alone.
    env: { ANNEX_AGENT_WAAGENT_FOLDER: 'none' },
    allowOnly: false,
    // A test file may start processes and databases; a single test that needs longer than this hangs.
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineConfig } from 'vitest/config';
import { ChildrenFirst } from './server/testing/children-first.ts';
import { testsLeftOut } from './server/testing/programs.ts';
import { longFiles, runsLong } from './server/testing/runs-long.ts';

/** Arguments of node that load a module before the tests. */
const preload = (file: string): string[] => ['--import', pathToFileURL(path.resolve(import.meta.dirname, file)).href];

export default defineConfig({
  test: {
    include: ['**/*.test.{ts,tsx}'],
    exclude: [
      '**/node_modules/**',
      '.next/**',
      '.data/**',
      'e2e/**',
      ...(runsLong ? [] : longFiles),
      ...(await testsLeftOut()),
    ],
    globalSetup: [
      './server/testing/programs-setup.ts',
      './server/testing/agent-program.ts',
      './db/testing/global-setup.ts',
    ],
    setupFiles: ['./db/testing/drop-databases.ts'],
    // One more worker than CI has cores, because a third of the time, a test file waits for processes, intervals or
    // disks.
    maxWorkers: 3,
    sequence: { sequencer: ChildrenFirst },
    // Test files share worker processes, because loading the modules for each file would take as long as the tests.
    // Each file restores what it changes in a module or in the environment, such as a clock or a variable.
    isolate: false,
    // Node loads the modules itself, as in production. To transform them first would take twice as long.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: [
      ...preload('server/platform/quick-imports.ts'),
      ...preload('server/testing/tsx.ts'),
      ...preload('server/testing/quick-passwords.ts'),
    ],
    // Keeps an agent that a test runs as root from writing to this machine's own folders.
    env: { ANNEX_AGENT_WAAGENT_FOLDER: 'none' },
    allowOnly: false,
    // A test that takes longer than this has hung. Hooks may take longer, because they start processes and databases.
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});

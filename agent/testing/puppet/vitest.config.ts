import path from 'node:path';
import { defineConfig } from 'vitest/config';

/** Tests of the executor for Puppet with the real Puppet, as packaged by Debian: `npm run test:puppet`. */
export default defineConfig({
  test: {
    dir: import.meta.dirname,
    globalSetup: path.resolve(import.meta.dirname, '../../../server/testing/programs-setup.ts'),
    include: ['**/*.spec.ts'],
    env: { ANNEX_AGENT_WAAGENT_FOLDER: 'none' },
    allowOnly: false,
    // Puppet takes several seconds to start, and the first run downloads it.
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
});

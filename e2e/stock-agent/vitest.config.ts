import path from 'node:path';
import { defineConfig } from 'vitest/config';

/** Tests of the real stock agent against a real portal: `npm run test:stock-agent`. */
export default defineConfig({
  test: {
    dir: import.meta.dirname,
    globalSetup: path.resolve(import.meta.dirname, '../../server/testing/programs-setup.ts'),
    include: ['**/*.test.ts'],
    // Each file starts its own portal and machines. Several files at the same time would overload this machine.
    fileParallelism: false,
    allowOnly: false,
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
});

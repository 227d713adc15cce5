import path from 'node:path';
import { defineConfig } from 'vitest/config';

const root = path.resolve(import.meta.dirname, '../..');

/** Tests with a real AMQP broker: `npm run test:amqp`. */
export default defineConfig({
  test: {
    dir: import.meta.dirname,
    globalSetup: [path.join(root, 'server/testing/programs-setup.ts'), path.join(root, 'db/testing/global-setup.ts')],
    include: ['**/*.test.ts'],
    // Each file starts its own broker. Several files at the same time would overload this machine.
    fileParallelism: false,
    env: { ANNEX_AGENT_WAAGENT_FOLDER: 'none' },
    allowOnly: false,
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
});

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['**/*.test.{ts,tsx}'],
    exclude: ['**/node_modules/**', '.next/**', '.data/**', 'e2e/**'],
    globalSetup: ['./db/testing/global-setup.ts'],
    // Two cores: a database, its clients and the tests share them; more workers only wait for each other.
    maxWorkers: 2,
    allowOnly: false,
    // A test file may start processes and databases; a single test that needs longer than this hangs.
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});

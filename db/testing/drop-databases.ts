import { afterAll } from 'vitest';
import { dropTestDatabases } from './database.ts';

// Runs last for each test file, because the hooks that begin first end last.
afterAll(dropTestDatabases);

import path from 'node:path';
import { buildPages } from '#server/launcher/build.ts';

// Builds the pages if they have changed. Starting the portal also does this.
await buildPages(path.resolve(import.meta.dirname, '..'), console.log);

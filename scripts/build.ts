import path from 'node:path';
import { buildPages } from '#server/launcher/build.ts';

// Builds the pages where they have changed; a start does the same by itself.
await buildPages(path.resolve(import.meta.dirname, '..'), console.log);

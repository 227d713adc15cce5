import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Options, transformSync } from '@swc/core';

/*
 * Lets tests import components: `node --import server/testing/tsx.ts …`. Node 24 does not load JSX. The compiler is
 * loaded with the first component, because few tests import one.
 */
const require = createRequire(import.meta.url);
const options: Options = {
  jsc: {
    target: 'es2024',
    parser: { syntax: 'typescript', tsx: true },
    transform: { react: { runtime: 'automatic' } },
  },
};

registerHooks({
  load(url, context, next) {
    if (!url.endsWith('.tsx')) return next(url, context);
    const swc = require('@swc/core') as { transformSync: typeof transformSync };
    const { code } = swc.transformSync(readFileSync(fileURLToPath(url), 'utf8'), options);
    return { format: 'module', source: code, shortCircuit: true };
  },
});

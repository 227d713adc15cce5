import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ChildKind } from '#server/platform/env.ts';
import { between, usableMemory } from '#server/platform/memory.ts';

/**
 * Maximum semi-space of a gateway in megabytes. A report's objects live until its commit, and Node's default of 16 MB
 * fills so often that some objects move to the old generation. More than 64 MB makes pauses longer: at 8,300 reports
 * per second, 7 ms with 64 MB and 25 ms with 256 MB.
 */
const gatewayYoungMegabytes = Math.round(between(16, usableMemory() / 1024 ** 2 / 96, 64));

/**
 * Turns off pretenuring. After a minute of queued reports, V8 would allocate all reports in the old generation, 30 MB
 * per second, and collect the whole old generation every nine seconds.
 */
const noLearntAge = '--no-allocation-site-pretenuring';

/** Returns the arguments with which node starts one of Annex's processes. */
export const doorArguments = (root: string, name: Exclude<ChildKind, 'build'>): string[] => [
  ...(name === 'gateway' ? [`--max-semi-space-size=${gatewayYoungMegabytes}`, noLearntAge] : []),
  ...['--import', pathToFileURL(join(root, 'server', 'platform', 'quick-imports.ts')).href],
  join(root, 'server', name, 'main.ts'),
];

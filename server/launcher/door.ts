import { join } from 'node:path';
import { between, usableMemory } from '#server/platform/memory.ts';

/**
 * Megabytes in which a gateway keeps what is young, if it comes to that many. Everything that belongs to a report lives
 * until its commit: node's 16 are filled several times as often, and some reports are counted among the old in the end.
 * With more than 64 each collection stops it for longer: 7 ms with 64 at 8,300 reports a second, 25 with 256.
 */
const gatewayYoungMegabytes = Math.round(between(16, usableMemory() / 1024 ** 2 / 96, 64));

/**
 * V8 learns from what outlives a collection, and makes more of its kind among the old from then on. After a minute in
 * which reports waited it would make every report's parts there, 30 MB a second, and collect all of them every nine.
 */
const noLearntAge = '--no-allocation-site-pretenuring';

/** Arguments for node that start one of our processes. */
export const doorArguments = (root: string, name: 'portal' | 'gateway' | 'worker'): string[] => [
  ...(name === 'gateway' ? [`--max-semi-space-size=${gatewayYoungMegabytes}`, noLearntAge] : []),
  join(root, 'server', name, 'main.ts'),
];

import { join } from 'node:path';
import { between, usableMemory } from '#server/platform/memory.ts';

/**
 * Megabytes in which a gateway keeps what is young, if it comes to that many. Everything that belongs to a report lives
 * until its commit: with node's 16 a busy gateway copies hundreds of them several times a second and counts them among
 * the old in the end, and to clear those it stops for half a second where it remembers a million agents.
 */
const gatewayYoungMegabytes = Math.round(between(16, usableMemory() / 1024 ** 2 / 96, 256));

/** Arguments for node that start one of our processes. */
export const doorArguments = (root: string, name: 'portal' | 'gateway' | 'worker'): string[] => [
  ...(name === 'gateway' ? [`--max-semi-space-size=${gatewayYoungMegabytes}`] : []),
  join(root, 'server', name, 'main.ts'),
];

import { join } from 'node:path';

/**
 * Megabytes in which the gateway keeps what is young. Everything that belongs to a report lives until its commit: with
 * node's 16 a busy gateway copies hundreds of them several times a second, and counts them among the old in the end.
 */
const gatewayYoungMegabytes = 128;

/** Arguments for node that start one of our processes. */
export const doorArguments = (root: string, name: 'portal' | 'gateway' | 'worker'): string[] => [
  ...(name === 'gateway' ? [`--max-semi-space-size=${gatewayYoungMegabytes}`] : []),
  join(root, 'server', name, 'main.ts'),
];

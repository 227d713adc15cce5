import { z } from 'zod';

/** The kind of a VM's agent. */
export const agentKind = z.enum(['reference', 'stock']);

/** The operating system that the agent reported. */
export const system = z.object({ name: z.string(), version: z.string(), arch: z.string() }).partial();

/** The highest published version that is newer than the declared version and supports the VM's platform. */
export const updateAvailable = z
  .string()
  .nullable()
  .describe('The highest published version that is newer and supports the VM’s platform; null if there is none.');

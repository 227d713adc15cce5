import { z } from 'zod';

/** The kind of a VM's agent. */
export const agentKind = z.enum(['reference', 'stock']);

/** The operating system that the agent reported. */
export const system = z.object({ name: z.string(), version: z.string(), arch: z.string() }).partial();

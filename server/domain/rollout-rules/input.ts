import { z } from 'zod';
import type { Gates, StoredFilter } from './stored.ts';
import { changeKinds, silentRules } from './words.ts';

/** Returns the schema of a rollout's definition, given the schema of a filter. */
export const rolloutInput = <F extends z.ZodType<StoredFilter>>(filter: F) =>
  z.object({
    name: z.string().min(1).max(200),
    note: z.string().max(4_000).nullish(),
    kind: z.enum(['rollout', 'bulk']).optional(),
    strategy: z.string().optional(),
    select: z.object({ ids: z.array(z.string()).optional(), all: z.literal(true).optional(), include: filter.optional(), exclude: filter.optional() }),
    change: z.looseObject({ kind: z.enum(changeKinds), handler: z.string() }),
    rings: z.array(z.looseObject({ name: z.string() })).optional(),
    gates: z.record(z.string(), z.custom<Partial<Gates>>()).optional(),
    silent: z.enum(silentRules).optional(),
    startAt: z.string().nullish(),
  });

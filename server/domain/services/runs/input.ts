import { z } from 'zod';
import { runOutcomes } from '#server/domain/service-rules/words.ts';
import { getUnitInput } from '../input.ts';

const ofUnit = getUnitInput.shape;

/** `cursor` is `nextCursor` of the previous page. */
export const listRunsInput = z.object({
  ...ofUnit,
  hook: z.string().max(128).optional(),
  outcome: z.enum(runOutcomes).optional(),
  limit: z.int().min(1).max(200).default(50),
  cursor: z.string().max(200).optional(),
});
export type ListRunsInput = z.input<typeof listRunsInput>;

export const getRunInput = z.object({ ...ofUnit, run: z.uuid() });
export type GetRunInput = z.input<typeof getRunInput>;

/** Rows are lines, counted from 0. */
export const readRunOutputInput = z.object({
  ...getRunInput.shape,
  row: z.int().min(0).default(0),
  count: z.int().min(1).max(500).default(500),
});
export type ReadRunOutputInput = z.input<typeof readRunOutputInput>;

/** `level`: which rows to return. `row`: where to start. */
export const filterRunLogInput = z.object({
  ...getRunInput.shape,
  row: z.int().min(0).default(0),
  level: z.enum(['messages', 'warning', 'error']),
});
export type FilterRunLogInput = z.input<typeof filterRunLogInput>;

export const searchRunLogInput = z.object({
  ...getRunInput.shape,
  row: z.int().min(0).default(0),
  q: z.string().min(1).max(200),
});
export type SearchRunLogInput = z.input<typeof searchRunLogInput>;

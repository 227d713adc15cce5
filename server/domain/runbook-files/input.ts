import { z } from 'zod';
import { executionLimits } from '#protocol/executions/index.ts';
import { boundedText } from '#protocol/file.ts';

/** The id by which execution plans name a file: a text without control characters. */
const runbookFileId = boundedText(executionLimits.idBytes)
  .min(1)
  .regex(/^\P{Cc}*$/u);

export const runbookFileInput = z.object({ id: runbookFileId });
export type RunbookFileInput = z.input<typeof runbookFileInput>;

/** The largest PostgreSQL `integer`. */
export const maxRevision = 2 ** 31 - 1;

/** `revision` selects earlier contents; the default is the current contents. */
export const openRunbookFileInput = runbookFileInput.extend({
  revision: z.int().min(1).max(maxRevision).optional(),
});
export type OpenRunbookFileInput = z.input<typeof openRunbookFileInput>;

export const listRunbookFilesInput = z.object({
  q: z.string().max(200).optional(),
  limit: z.int().min(1).max(200).default(50),
  cursor: z.string().max(1_000).optional(),
});
export type ListRunbookFilesInput = z.input<typeof listRunbookFilesInput>;

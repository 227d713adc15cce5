import { z } from 'zod';
import { commandNames } from '#protocol/manifest.ts';
import { extensionName } from '#server/domain/goal-states/input.ts';
import { handlerId } from '#server/domain/packages/input.ts';
import { vmId } from '#server/domain/vms/input.ts';

/**
 * The bytes from `start` up to, but not including, `until`. The total length is null while the command may still write.
 */
const outputRange = z.object({ start: z.int().min(0), until: z.int().min(0), total: z.int().min(0).nullable() });

/** A part of a command's output. Without `range`, the body is the whole output. */
export const receiveOutputInput = z.object({
  vmId,
  extension: extensionName,
  command: z.enum(commandNames),
  attempt: z.int().min(0),
  sequence: z.int().min(0),
  range: outputRange.nullable(),
});
export type ReceiveOutputInput = z.input<typeof receiveOutputInput>;

/** A part of an execution's transcript. Without `range`, the body is the whole transcript. */
export const receiveTranscriptInput = z.object({ vmId, executionId: z.uuid(), range: outputRange.nullable() });
export type ReceiveTranscriptInput = z.input<typeof receiveTranscriptInput>;

/** `cursor` is `nextCursor` of the previous page. */
export const listOutputsInput = z.object({
  vmId,
  extension: extensionName.optional(),
  limit: z.int().min(1).max(200).default(50),
  cursor: z.string().max(200).optional(),
});
export type ListOutputsInput = z.input<typeof listOutputsInput>;

const outputId = z.uuid();
export const getOutputInput = z.object({ vmId, outputId });
export type GetOutputInput = z.input<typeof getOutputInput>;

/** Rows are lines, counted from 0. A missing part counts as one row. */
export const readOutputInput = z.object({
  vmId,
  outputId,
  row: z.int().min(0),
  count: z.int().min(1).max(500).default(500),
});
export type ReadOutputInput = z.input<typeof readOutputInput>;

/** Searches for text, ignoring case, starting at a given row. */
export const searchOutputInput = z.object({
  vmId,
  outputId,
  q: z.string().min(1).max(200),
  row: z.int().min(0).default(0),
});
export type SearchOutputInput = z.input<typeof searchOutputInput>;

export const requestArchiveInput = z.object({ vmId, handler: handlerId });
export type RequestArchiveInput = z.input<typeof requestArchiveInput>;

export const listArchivesInput = z.object({ vmId });
export type ListArchivesInput = z.input<typeof listArchivesInput>;

export const openArchiveInput = z.object({ vmId, archiveId: z.uuid() });
export type OpenArchiveInput = z.input<typeof openArchiveInput>;

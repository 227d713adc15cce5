import { z } from 'zod';
import { extensionName } from '#server/domain/goal-states/input.ts';
import { handlerId, handlerVersion } from '#server/domain/packages/input.ts';

/** Shapes that several answers share. Answers are described, not filtered: a verb may give more later. */
export const time = z.iso.datetime();
export const vmId = z.uuid();
export const handler = handlerId;
export const version = handlerVersion;
export const language = z.string().min(1).max(100);
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
export const role = z.enum(['viewer', 'operator', 'publisher', 'admin']);
export const count = z.number().int().min(0);

export const inVm = z.object({ id: vmId });
export const inOutput = z.object({ id: vmId, output: z.uuid() });
export const inArchive = z.object({ id: vmId, archive: z.uuid() });
export const inExtension = z.object({ id: vmId, name: extensionName });
export const inHandler = z.object({ handler });
export const inVersion = z.object({ handler, version });
export const inLanguage = z.object({ handler, version, lang: language });

/** A finding that refuses nothing, with its sentence in the caller's language. */
export const warning = z.object({ code: z.string(), message: z.string(), path: z.string().optional() });

/** Entries that lists of an answer lack because it would be too large. */
export const leftOut = <Name extends string>(...names: readonly Name[]) =>
  z
    .partialRecord(z.enum(names as readonly [Name, ...Name[]]), count)
    .optional()
    .describe(`Entries that are not listed, because the answer would be too large: ${names.join(', ')}.`);

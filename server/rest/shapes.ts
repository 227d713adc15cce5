import { z } from 'zod';
import { problemKey } from '#server/domain/attention/input.ts';
import { extensionName } from '#server/domain/goal-states/input.ts';
import { handlerId, handlerVersion } from '#server/domain/packages/input.ts';
import { vmId } from '#server/domain/vms/input.ts';

/** Path parameters. */
const handler = handlerId;
const version = handlerVersion;
export const language = z.string().min(1).max(100);

export const inVm = z.object({ id: vmId });
export const inOutput = z.object({ id: vmId, output: z.uuid() });
export const inArchive = z.object({ id: vmId, archive: z.uuid() });
export const inExecution = z.object({ id: vmId, execution: z.uuid() });
export const inExtension = z.object({ id: vmId, name: extensionName });
export const inHandler = z.object({ handler });
export const inProblem = z.object({ key: problemKey });
export const inVersion = z.object({ handler, version });
export const inLanguage = z.object({ handler, version, lang: language });

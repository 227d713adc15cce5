import { z } from 'zod';
import { problemKey } from '#server/domain/attention/input.ts';
import { extensionName } from '#server/domain/goal-states/input.ts';
import { handlerId, handlerVersion } from '#server/domain/packages/input.ts';
import { strategyName } from '#server/domain/rollout-rules/input.ts';
import { rolloutId } from '#server/domain/rollouts/input.ts';
import { serviceRef } from '#server/domain/services/input.ts';
import { modelRef } from '#server/domain/topology/input.ts';
import { vmId } from '#server/domain/vms/input.ts';

/** Path parameters. */
const handler = handlerId;
const version = handlerVersion;
export const language = z.string().min(1).max(100);

export const inVm = z.object({ id: vmId });
export const inRollout = z.object({ id: rolloutId });
export const inModel = z.object({ model: modelRef });
export const inService = inModel.extend({ service: serviceRef });
export const inUnit = inService.extend({ number: z.string().max(20) });
export const inStrategy = z.object({ name: strategyName });
export const inOutput = z.object({ id: vmId, output: z.uuid() });
export const inArchive = z.object({ id: vmId, archive: z.uuid() });
export const inExecution = z.object({ id: vmId, execution: z.uuid() });
export const inExtension = z.object({ id: vmId, name: extensionName });
export const inHandler = z.object({ handler });
export const inProblem = z.object({ key: problemKey });
export const inVersion = z.object({ handler, version });
export const inLanguage = z.object({ handler, version, lang: language });

/**
 * Returns a schema for a body that its verb parses, because the form depends on the portal. The document describes the
 * body by `schema`.
 */
export function parsedByVerb(schema: z.ZodType) {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return z.record(z.string(), z.unknown()).meta(described);
}

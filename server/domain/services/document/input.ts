import { z } from 'zod';
import { modelRef } from '#server/domain/topology/input.ts';

/**
 * `document`: the document as a value, or its text in YAML or JSON. `prune`: whether what it leaves out is removed.
 */
export const planDocumentInput = z.object({
  model: modelRef,
  document: z.unknown(),
  prune: z.boolean().default(false),
});
export type PlanDocumentInput = z.input<typeof planDocumentInput>;

/** `plan`: the hash of a plan. The request is rejected if it would have a different effect. */
export const applyDocumentInput = planDocumentInput.extend({ plan: z.string().min(1).max(100).optional() });
export type ApplyDocumentInput = z.input<typeof applyDocumentInput>;

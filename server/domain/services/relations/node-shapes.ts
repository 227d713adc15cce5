import { z } from 'zod';
import { count, leftOut, time } from '#server/domain/answers.ts';
import { sides } from '#server/domain/service-rules/words.ts';

const key = z.object({
  key: z.string(),
  bytes: count,
  masked: z
    .boolean()
    .describe('Whether the value is hidden because the formula lists the key, or its name looks like a secret.'),
});

const nodeShape = {
  unit: z.string(),
  side: z.enum(sides),
  version: count,
  bytes: count.describe('Size of all values.'),
  written: z
    .object({
      clock: count,
      at: time,
      run: z
        .object({ vmId: z.string(), id: z.string(), hook: z.string(), number: count })
        .nullable()
        .describe('The run of the hook that wrote this version; null if the unit joined without one.'),
    })
    .nullable()
    .describe('When this version was written; null if the history no longer has it.'),
  confirmedBy: count.describe('Number of units that have confirmed this version or a later one.'),
};

const ofRelation = { clock: count, leftOut: leftOut('nodes') };

/** The nodes of a relation without values. */
export const relationNodes = z
  .object({ ...ofRelation, nodes: z.array(z.object({ ...nodeShape, keys: z.array(key) })) })
  .meta({ id: 'RelationNodes' });
export type RelationNodes = z.infer<typeof relationNodes>;

const settings = z.array(
  key.extend({ value: z.string().nullable().describe('The JSON text of the value; null if it is masked.') }),
);
const nodeSettings = z.object({ ...nodeShape, settings });

/** The nodes of a relation with the values that are not masked. */
export const relationSettings = z
  .object({ ...ofRelation, nodes: z.array(nodeSettings) })
  .meta({ id: 'RelationSettings' });
export type RelationSettings = z.infer<typeof relationSettings>;

/** A node with all values. */
export const revealedNode = nodeSettings.extend({ clock: count }).meta({ id: 'RevealedNode' });
export type RevealedNode = z.infer<typeof revealedNode>;

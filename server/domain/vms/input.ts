import { z } from 'zod';
import { changesDirection } from '#protocol/direction.ts';
import { hasInvisible } from '#protocol/invisible.ts';
import { namedValues } from '#protocol/named-values.ts';

const encoder = new TextEncoder();
const atMost = (bytes: number) => (text: string) => encoder.encode(text).length <= bytes;

/**
 * Limits on tags: their number, and the bytes of a name and of a value, as in the API contract. Forms use these limits
 * too.
 */
export const tagLimits = { count: 64, bytes: 256 };

/** The name of a VM: 1 to 128 letters, digits, `.`, `_` and `-`, with a letter or digit at both ends. */
export const vmName = z
  .string()
  .min(1, { abort: true })
  .max(128)
  .refine((name) => !hasInvisible(name), { error: 'text_invisible', abort: true })
  .regex(/^[\p{L}\p{N}](?:[\p{L}\p{N}._-]*[\p{L}\p{N}])?$/u, 'vm_name_form');

export const vmTags = namedValues(
  z.string().min(1).refine(atMost(tagLimits.bytes)),
  z.string().refine(atMost(tagLimits.bytes)),
)
  .refine((tags) => Object.keys(tags).length <= tagLimits.count)
  .superRefine((tags, ctx) => {
    for (const [name, value] of Object.entries(tags)) {
      const message = [name, value].some(changesDirection)
        ? 'text_direction'
        : [name, value].some(hasInvisible)
          ? 'text_invisible'
          : null;
      if (message !== null) ctx.addIssue({ code: 'custom', message, input: tags, path: [name] });
    }
  });

/**
 * The id of a VM, in the lower case that the database stores. An activity entry is sealed with the id that a verb
 * received, so another spelling would make the stored entry look altered.
 */
export const vmId = z.uuid().toLowerCase();

export const createVmInput = z.object({ name: vmName, tags: vmTags.default({}) });
export type CreateVmInput = z.input<typeof createVmInput>;

/**
 * `seen` is the name and tags as they were when the caller began to edit. With `seen`, changes that other people made
 * since then are kept.
 */
export const updateVmInput = z.object({
  vmId,
  name: vmName.optional(),
  tags: vmTags.optional(),
  seen: z.object({ name: z.string(), tags: z.record(z.string(), z.string()) }).optional(),
});
export type UpdateVmInput = z.input<typeof updateVmInput>;

export const getVmInput = z.object({ vmId });
export type GetVmInput = z.input<typeof getVmInput>;

import { z } from 'zod';
import { givenText } from '#protocol/file.ts';
import { hasInvisible } from '#protocol/invisible.ts';
import { maxNamespaceLength, namespacePattern } from '#protocol/names.ts';

/** The namespace of a publisher. */
export const namespace = z
  .string()
  .max(maxNamespaceLength)
  .refine((text) => !hasInvisible(text), { error: 'text_invisible', abort: true })
  .regex(namespacePattern, 'namespace_form');

export const createPublisherInput = z.object({
  namespace,
  displayName: givenText(200),
});
export type CreatePublisherInput = z.input<typeof createPublisherInput>;

/** `q` is a part of a namespace or display name; `cursor` is `nextCursor` of the previous page. */
export const listPublishersInput = z.object({
  q: z.string().max(200).optional(),
  limit: z.number().int().min(1).max(200).default(50),
  cursor: z.string().max(1000).optional(),
});
export type ListPublishersInput = z.input<typeof listPublishersInput>;

import { z } from 'zod';
import { anyCase } from './any-case.ts';
import { issueOf } from './fault.ts';
import { arrayOfOne, asText, boundedText, fileVersion } from './file.ts';
import { canonicalLanguage } from './language.ts';
import { documentLimits } from './limits.ts';
import { maxPlaceholders, partsOf } from './template.ts';

/** Messages of a handler in one language, by id (AZ-L1). */
export interface ResourceFile {
  /** Canonical BCP 47 language tag. */
  lang: string;
  messages: { id: string; text: string }[];
}

const language = z.string().transform((tag, ctx): string => {
  const canonical = canonicalLanguage(tag);
  if (canonical === null) ctx.addIssue(issueOf('language_tag', tag));
  return canonical ?? '';
});

const messages = z
  .array(
    anyCase(
      z.object({
        id: asText(documentLimits.paramBytes).refine((id) => id.trim() !== '', 'field_empty'),
        text: boundedText(documentLimits.messageBytes),
      }),
    ),
  )
  .superRefine((list, ctx) => {
    const seen = new Set<string>();
    for (const [index, { id, text }] of list.entries()) {
      if (seen.has(id)) ctx.addIssue(issueOf('message_id_twice', id, {}, [index, 'id']));
      seen.add(id);
      if (partsOf(text).indexes.length > maxPlaceholders) {
        ctx.addIssue(issueOf('placeholders_too_many', text, { maximum: maxPlaceholders }, [index, 'text']));
      }
    }
  });

/** The schema of a resource file with the given limit on the number of messages. */
export function resourceFileWith(limits: { messages: number }) {
  const bounded = z
    .unknown()
    .superRefine((input, ctx) => {
      if (input === undefined) ctx.addIssue(issueOf('field_missing', input));
      if (Array.isArray(input) && input.length > limits.messages) {
        ctx.addIssue(issueOf('messages_too_many', input, { maximum: limits.messages }));
      }
    })
    .pipe(messages);
  return arrayOfOne(anyCase(z.object({ version: fileVersion, lang: language, messages: bounded }))).transform(
    ({ lang, messages: list }): ResourceFile => ({ lang, messages: list }),
  );
}

/** The schema of a resource file: an array of one object. */
export const resourceFile = resourceFileWith({ messages: 20_000 });

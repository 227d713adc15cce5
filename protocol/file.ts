import { z } from 'zod';
import { anyCase, isPlainObject } from './any-case.ts';
import { chosen, issueOf } from './fault.ts';
import { type DocumentLimits, utf8Bytes } from './limits.ts';

/** A handler's file: an array of one, whose object becomes the value. */
export function arrayOfOne<S extends z.ZodType>(element: S) {
  return z
    .array(z.unknown(), { error: 'file_not_array' })
    .length(1, { error: 'file_not_single' })
    .pipe(z.tuple([element]))
    .transform(([value]) => value);
}

/** `version`: 1.0 and no other. */
export const fileVersion = z.literal(1, {
  error: (issue) => (issue.input === undefined ? 'field_missing' : 'file_version'),
});

/** Text of at most so many bytes of UTF-8, without what no database stores: NUL and halves of character pairs. */
export function boundedText(maximum: number) {
  return z.string().superRefine((text, ctx) => {
    if (text.includes('\u0000') || !text.isWellFormed()) ctx.addIssue(issueOf('json_character', text));
    if (text.length * 3 > maximum && utf8Bytes(text) > maximum)
      ctx.addIssue(issueOf('text_too_long', text, { maximum }));
  });
}

/** Text, or a number or boolean that is taken as text (numeric message ids, AZ-S1). */
export function asText(maximum: number) {
  return z.preprocess(
    (input) => (typeof input === 'number' || typeof input === 'boolean' ? String(input) : input),
    boundedText(maximum),
  );
}

/** A word out of a list in any case. */
export function wordOf<const W extends readonly [string, ...string[]]>(words: W) {
  return z.preprocess((input) => (typeof input === 'string' ? input.toLowerCase() : input), z.enum(words));
}

/** A text in the language that its writer says; `lang` is empty where it says none. */
export interface FormattedMessage {
  lang: string;
  message: string;
}

/** A formatted message: an object, or a plain string, whose language nobody knows (AZ-S2). */
export function formattedMessageWith(limits: DocumentLimits) {
  const object: z.ZodType<FormattedMessage> = anyCase(
    z.object({ lang: asText(limits.paramBytes).default(''), message: boundedText(limits.messageBytes) }),
  );
  const plain: z.ZodType<FormattedMessage> = boundedText(limits.messageBytes).transform((message) => ({
    lang: '',
    message,
  }));
  return chosen((input) => (typeof input === 'string' ? plain : object));
}

/** The id of a resource with the values for its placeholders. */
export interface MessageReference {
  id: string;
  params: string[];
  /** Found again by the portal from the text, for an agent that drops ids; no file can say this of itself. */
  recovered?: true;
}

export function messageReferenceWith(limits: DocumentLimits): z.ZodType<MessageReference> {
  return anyCase(z.object({ id: asText(limits.paramBytes), params: z.array(asText(limits.paramBytes)).default([]) }));
}

/** Whether an object names this property in any case. */
export function hasProperty(input: unknown, name: string): boolean {
  return isPlainObject(input) && Object.keys(input).some((key) => key.toLowerCase() === name.toLowerCase());
}

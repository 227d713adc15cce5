import { z } from 'zod';
import { anyCase, isPlainObject } from './any-case.ts';
import { changesDirection } from './direction.ts';
import { chosen, issueOf } from './fault.ts';
import { hasInvisible } from './invisible.ts';
import { type DocumentLimits, utf8Bytes } from './limits.ts';

/** The schema of a handler's file: an array of one object. The parsed value is that object. */
export function arrayOfOne<S extends z.ZodType>(element: S) {
  return z
    .array(z.unknown(), { error: 'file_not_array' })
    .length(1, { error: 'file_not_single' })
    .pipe(z.tuple([element]))
    .transform(([value]) => value);
}

const oneAsText = /^\s*v?1(\.0)*\s*$/i;

/** `version`: must be 1.0, as a number or as text. */
export const fileVersion = z.preprocess(
  (input) => (typeof input === 'string' && oneAsText.test(input) ? 1 : input),
  z.literal(1, { error: (issue) => (issue.input === undefined ? 'field_missing' : 'file_version') }),
);

/** Whole numbers that handlers write in quotation marks: decimal (a zero fraction is allowed) or hexadecimal. */
const wholeAsText = /^\s*([+-]?\d{1,15}(\.0*)?|0x[\da-f]{1,8})\s*$/i;

/** A whole number, given as a number or as text. An empty string counts as absent. */
export const wholeNumber = z.preprocess((input) => {
  if (typeof input !== 'string') return input;
  if (input.trim() === '') return undefined;
  return wholeAsText.test(input) ? Number(input) : input;
}, z.int().optional());

/** Text with a limit in UTF-8 bytes. Rejects NUL and lone surrogates, which PostgreSQL cannot store. */
export function boundedText(maximum: number) {
  return z.string().superRefine((text, ctx) => {
    if (text.includes('\u0000') || !text.isWellFormed()) ctx.addIssue(issueOf('json_character', text));
    if (text.length * 3 > maximum && utf8Bytes(text) > maximum)
      ctx.addIssue(issueOf('text_too_long', text, { maximum }));
  });
}

/**
 * A name that a person enters: not blank, without invisible characters, unable to change the direction of surrounding
 * text, and without NUL and lone surrogates, which PostgreSQL cannot store.
 */
export function givenText(maximum: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(maximum)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), { error: 'json_character', abort: true })
    .refine((text) => !changesDirection(text), { error: 'text_direction', abort: true })
    .refine((text) => !hasInvisible(text), 'text_invisible');
}

/** Text. Converts numbers and booleans to text (numeric message ids, AZ-S1). */
export function asText(maximum: number) {
  return z.preprocess(
    (input) => (typeof input === 'number' || typeof input === 'boolean' ? String(input) : input),
    boundedText(maximum),
  );
}

/** One of the given words, regardless of case and surrounding whitespace. */
export function wordOf<const W extends readonly [string, ...string[]]>(words: W) {
  return z.preprocess((input) => (typeof input === 'string' ? input.trim().toLowerCase() : input), z.enum(words));
}

/** A text with its language as the handler stated it; `lang` is empty if the handler stated none. */
export interface FormattedMessage {
  lang: string;
  message: string;
}

/**
 * A formatted message: an object, or plain text, whose language is unknown (AZ-S2). Some handlers write other JSON
 * instead of text: null in `message` becomes an empty string, and other values are converted to JSON text.
 */
export function formattedMessageWith(limits: DocumentLimits) {
  const text = z.preprocess(textOfJson, boundedText(limits.messageBytes));
  const object: z.ZodType<FormattedMessage> = z.preprocess(
    withEmptyMessage,
    anyCase(z.object({ lang: asText(limits.paramBytes).default(''), message: text })),
  );
  const plain: z.ZodType<FormattedMessage> = text.transform((message) => ({ lang: '', message }));
  return chosen((input) => (isPlainObject(input) ? object : plain));
}

function textOfJson(input: unknown): unknown {
  if (typeof input === 'number' || typeof input === 'boolean') return String(input);
  return typeof input === 'object' && input !== null ? JSON.stringify(input) : input;
}

/** `anyCase` treats null as absent, but a null `message` counts as an empty message. */
function withEmptyMessage(input: unknown): unknown {
  if (!isPlainObject(input)) return input;
  const entries = Object.entries(input).map(([key, value]) =>
    key.toLowerCase() === 'message' && value === null ? [key, ''] : [key, value],
  );
  return Object.fromEntries(entries);
}

/** A message id and the values for its placeholders. */
export interface MessageReference {
  id: string;
  params: string[];
  /**
   * Set by the portal if it recovered the id by comparing the text with templates, because some agents drop ids. A
   * handler's file cannot set it.
   */
  recovered?: true;
}

export function messageReferenceWith(limits: DocumentLimits): z.ZodType<MessageReference> {
  return anyCase(z.object({ id: asText(limits.paramBytes), params: z.array(asText(limits.paramBytes)).default([]) }));
}

/** Whether an object has this property, regardless of case. */
export function hasProperty(input: unknown, name: string): boolean {
  return isPlainObject(input) && Object.keys(input).some((key) => key.toLowerCase() === name.toLowerCase());
}

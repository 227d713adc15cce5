import { z } from 'zod';
import type { ErrorCode, Fault } from '#server/domain/error.ts';

/**
 * Shapes that the answers of several verbs share. The schema of an answer is written beside its verb: its type is
 * inferred from it, the OpenAPI document is printed from it, and the tests parse every answer of `/api/v1` with it.
 */

/** A moment that verbs return as text. */
export const time = z.iso.datetime();

/** A moment that verbs return as a `Date`; ISO 8601 in JSON. */
export const instant = z.codec(time, z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});

export const count = z.number().int().min(0);
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A fault as verbs return it; each door translates it. */
export const fault = z.custom<Fault>();

/** A code with a sentence in `locales/en/errors.json`. */
export const errorCode = z.custom<ErrorCode>((code) => typeof code === 'string').meta({ type: 'string' });

/** A page of a list. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() });

/** The number of entries that lists of an answer omit because it would be too large. */
export const leftOut = <Name extends string>(...names: readonly Name[]) =>
  z
    .partialRecord(z.enum(names as readonly [Name, ...Name[]]), count)
    .optional()
    .describe(`Entries that are not listed, because the answer would be too large: ${names.join(', ')}.`);

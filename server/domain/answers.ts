import { z } from 'zod';
import type { ErrorCode, Fault } from '#server/domain/error.ts';

/**
 * Schemas that the responses of several verbs share; other response schemas are next to their verbs. Types and the
 * OpenAPI document are derived from all of these schemas, and tests parse every response of `/api/v1` with them.
 */

/** An ISO 8601 time that verbs return as text. */
export const time = z.iso.datetime();

/** A time that verbs return as a `Date`; ISO 8601 in JSON. */
export const instant = z.codec(time, z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});

/** Returns a time in ISO 8601; null if there is none. */
export const isoOrNull = (date: Date | null | undefined): string | null => date?.toISOString() ?? null;

export const count = z.number().int().min(0);
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A fault as verbs return it. Each entry point translates it. */
export const fault = z.custom<Fault>();

/** An error code. Its sentence is in `locales/en/errors.json`. */
export const errorCode = z.custom<ErrorCode>((code) => typeof code === 'string').meta({ type: 'string' });

/** Schema of one page of a list. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() });

/** Schema for how many entries were left out of each named list to keep the response small enough. */
export const leftOut = <Name extends string>(...names: readonly Name[]) =>
  z
    .partialRecord(z.enum(names as readonly [Name, ...Name[]]), count)
    .optional()
    .describe(`For each of these lists, the number of entries omitted because of the size limit: ${names.join(', ')}.`);

import { z } from 'zod';
import { anyCase, isPlainObject, propertyOf } from './any-case.ts';
import { chosen, issueOf } from './fault.ts';
import {
  arrayOfOne,
  asText,
  type FormattedMessage,
  fileVersion,
  formattedMessageWith,
  hasProperty,
  type MessageReference,
  messageReferenceWith,
  wholeNumber,
  wordOf,
} from './file.ts';
import { type DocumentLimits, documentLimits } from './limits.ts';
import { parseHandlerTime } from './time.ts';

export const statusWords = ['transitioning', 'error', 'success', 'warning'] as const;
export type StatusWord = (typeof statusWords)[number];

/** A status or one of its substatuses (AZ-S1). */
export interface StatusObject {
  name?: string;
  operation?: string;
  /** The time as the handler wrote it. */
  configurationAppliedTime?: string;
  status: StatusWord;
  code?: number;
  message?: MessageReference;
  formattedMessage?: FormattedMessage;
  substatus: StatusObject[];
}

/** The contents of a `<SequenceNumber>.status` file. */
export interface StatusDocument extends StatusObject {
  /** The time as ISO 8601; null if the handler's text is not a known time format (AZ-S2). */
  timestampUTC: string | null;
}

/** The schema of a status file with the given limits. */
export function statusFileWith(limits: DocumentLimits) {
  const element = anyCase(
    z.object({ version: fileVersion, timestampUTC: asText(limits.messageBytes), status: statusObjectWith(limits) }),
  );
  return arrayOfOne(element).transform(
    ({ timestampUTC, status }): StatusDocument => ({ ...status, timestampUTC: parseHandlerTime(timestampUTC) }),
  );
}

/** The schema of the status within a status file. Accepts the spellings of AZ-S2. */
export function statusObjectWith(limits: DocumentLimits): z.ZodType<StatusObject> {
  const text = asText(limits.messageBytes);
  const formatted = formattedMessageWith(limits);
  const reference = messageReferenceWith(limits);
  // A string, or an object with `message` but no `id`, is a formatted message in the wrong property.
  const message = chosen<MessageReference | FormattedMessage>((input) =>
    !isPlainObject(input) || (hasProperty(input, 'message') && !hasProperty(input, 'id')) ? formatted : reference,
  );
  const statusObject: z.ZodType<StatusObject> = anyCase(
    z.object({
      name: text.optional(),
      operation: text.optional(),
      configurationAppliedTime: text.optional(),
      status: wordOf(statusWords),
      code: wholeNumber,
      message: message.optional(),
      formattedMessage: formatted.optional(),
      substatus: z.array(z.nullable(z.lazy(() => statusObject))).default([]),
    }),
  ).transform(({ message: plainMessage, formattedMessage, code, substatus, ...rest }) => {
    // A substatus that is null counts as absent.
    const parts = substatus.filter((part) => part !== null);
    const object: StatusObject = { ...rest, ...(code !== undefined && { code }), substatus: parts };
    // A message with a blank id or text counts as absent.
    if (plainMessage !== undefined && 'id' in plainMessage && plainMessage.id.trim() !== '')
      object.message = plainMessage;
    if (formattedMessage !== undefined && formattedMessage.message.trim() !== '') {
      object.formattedMessage = formattedMessage;
    } else if (plainMessage !== undefined && 'message' in plainMessage && plainMessage.message.trim() !== '')
      object.formattedMessage = plainMessage;
    return object;
  });
  return z
    .unknown()
    .superRefine((input, ctx) => {
      if (input === undefined) ctx.addIssue(issueOf('field_missing', input));
      const size = measureSubstatuses(input, limits);
      if (size.depth > limits.substatusDepth) {
        ctx.addIssue(issueOf('substatus_too_deep', input, { maximum: limits.substatusDepth }));
      }
      if (size.count > limits.substatuses) {
        ctx.addIssue(issueOf('substatus_too_many', input, { maximum: limits.substatuses }));
      }
    })
    .pipe(statusObject);
}

/** The schema of a status file, with default limits. */
export const statusFile = statusFileWith(documentLimits);

/**
 * Measures the depth and the number of substatuses iteratively and stops early: a hostile file must not exhaust the
 * stack.
 */
function measureSubstatuses(status: unknown, limits: DocumentLimits): { count: number; depth: number } {
  let level: unknown[] = [status];
  let count = 0;
  for (let depth = 0; ; depth++) {
    level = level.flatMap((object) => {
      const below = isPlainObject(object) ? propertyOf(object, 'substatus') : undefined;
      return Array.isArray(below) ? below : [];
    });
    count += level.length;
    if (level.length === 0) return { count, depth };
    if (count > limits.substatuses || depth + 1 > limits.substatusDepth) return { count, depth: depth + 1 };
  }
}

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
  /** As the handler wrote it. */
  configurationAppliedTime?: string;
  status: StatusWord;
  code?: number;
  message?: MessageReference;
  formattedMessage?: FormattedMessage;
  substatus: StatusObject[];
}

/** What a `<SequenceNumber>.status` file says. */
export interface StatusDocument extends StatusObject {
  /** ISO 8601, or null where the handler's text is no time that is known (AZ-S2). */
  timestampUTC: string | null;
}

/** The status file under other limits than the default ones. */
export function statusFileWith(limits: DocumentLimits) {
  const element = anyCase(
    z.object({ version: fileVersion, timestampUTC: asText(limits.messageBytes), status: statusObjectWith(limits) }),
  );
  return arrayOfOne(element).transform(
    ({ timestampUTC, status }): StatusDocument => ({ ...status, timestampUTC: parseHandlerTime(timestampUTC) }),
  );
}

/** The status within such a file, as handlers write it: the one reader of statuses, whichever agent passes them on. */
export function statusObjectWith(limits: DocumentLimits): z.ZodType<StatusObject> {
  const text = asText(limits.messageBytes);
  const formatted = formattedMessageWith(limits);
  const reference = messageReferenceWith(limits);
  // A text, or an object with a text and no id, is a formatted message in the wrong place.
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
  ).transform(({ message: said, formattedMessage, code, substatus, ...rest }) => {
    // A part that is null is none.
    const parts = substatus.filter((part) => part !== null);
    const object: StatusObject = { ...rest, ...(code !== undefined && { code }), substatus: parts };
    // A blank id or text is how handlers write that there is none.
    if (said !== undefined && 'id' in said && said.id.trim() !== '') object.message = said;
    if (formattedMessage !== undefined && formattedMessage.message.trim() !== '') {
      object.formattedMessage = formattedMessage;
    } else if (said !== undefined && 'message' in said && said.message.trim() !== '') object.formattedMessage = said;
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

/** The parsed text of a status file → what it says. */
export const statusFile = statusFileWith(documentLimits);

/** Counts before anything recurses, and stops early: a hostile file has no say in how deep a parser goes. */
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

import { z } from 'zod';
import { anyCase } from './any-case.ts';
import { chosen } from './fault.ts';
import {
  arrayOfOne,
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

/** A heartbeat's message: plain text, a formatted message, or a message id with its params. */
export interface HeartbeatMessage {
  text?: string;
  formattedMessage?: FormattedMessage;
  reference?: MessageReference;
}

/** A heartbeat as read from a handler's file (AZ-H1). */
export interface HeartbeatDocument {
  status: 'ready' | 'notready';
  code?: number;
  message?: HeartbeatMessage;
}

/** The schema of a heartbeat file with the given limits. */
export function heartbeatFileWith(limits: DocumentLimits) {
  const formatted = formattedMessageWith(limits);
  const plain: z.ZodType<HeartbeatMessage> = formatted.transform(({ message }) => ({ text: message }));
  const bare: z.ZodType<HeartbeatMessage> = formatted.transform((formattedMessage) => ({ formattedMessage }));
  const reference: z.ZodType<HeartbeatMessage> = messageReferenceWith(limits).transform((taken) => ({
    reference: taken,
  }));
  const wrapped: z.ZodType<HeartbeatMessage> = anyCase(z.object({ formattedMessage: formatted }));
  const message = chosen((input) => {
    if (typeof input === 'string') return plain;
    if (hasProperty(input, 'formattedMessage')) return wrapped;
    if (hasProperty(input, 'id')) return reference;
    return hasProperty(input, 'message') ? bare : wrapped;
  });
  const heartbeat = anyCase(
    z.object({
      status: wordOf(['ready', 'notready']),
      code: wholeNumber,
      message: message.optional(),
      formattedMessage: formatted.optional(),
    }),
  );
  return arrayOfOne(anyCase(z.object({ version: fileVersion, heartbeat }))).transform((file): HeartbeatDocument => {
    const { status, code, message: plainMessage, formattedMessage } = file.heartbeat;
    const document: HeartbeatDocument = { status };
    if (code !== undefined) document.code = code;
    if (plainMessage !== undefined && plainMessage.text?.trim() !== '') document.message = plainMessage;
    else if (formattedMessage !== undefined) document.message = { formattedMessage };
    return document;
  });
}

/** The schema of a heartbeat file, with default limits. */
export const heartbeatFile = heartbeatFileWith(documentLimits);

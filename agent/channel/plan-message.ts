import type { ConsumeMessage } from 'amqplib';
import { z } from 'zod';
import { type ExecutionEnvelope, executionEnvelope, executionLimits } from '#protocol/executions/index.ts';

/** Where the answers to a plan go, kept in the envelope of its execution. */
const reply = z.object({
  /** The message_id of the plan's message; the plan's ID if the message has none. */
  messageId: z.string(),
  /** The queue that the plan or its message names for the answers; null if neither names one. */
  replyTo: z.string().nullable(),
});
export type AmqpReply = z.output<typeof reply>;

/** Maximum size of a message. The conductor adds empty properties and encrypted parameters to a plan. */
const maxMessageBytes = executionLimits.planBytes + 2 * executionLimits.parametersBytes;

/** Returns where the answers to an execution go; null if its plan did not come over AMQP. */
export function replyOf(envelope: ExecutionEnvelope): AmqpReply | null {
  return reply.safeParse(envelope.amqp).data ?? null;
}

/**
 * Converts a message from the broker to an envelope like the portal's, as text and parsed. Returns null if the message
 * has neither a plan ID nor a message_id, because an answer could not be matched to it. A message that is not a plan
 * but has a message_id becomes an execution that fails with code 2 (MU-12). `turn` is used if the message has none.
 */
export function envelopeOf(
  { content, properties }: ConsumeMessage,
  { turn, now }: { turn: number; now: Date },
): { text: string; envelope: ExecutionEnvelope } | null {
  const text = content.byteLength <= maxMessageBytes ? content.toString('utf8') : '';
  const plan = objectOf(text);
  const messageId = textOf(properties.messageId);
  const id = textOf(plan?.ID) ?? messageId;
  if (id === null) return null;
  const { protectedParameters, protectedParametersCertThumbprint } = plan ?? {};
  const headers = properties.headers ?? {};
  const lead = {
    protocol: 1,
    id,
    // A missing stamp is replaced with one based on the current time, so that the plan never counts as stale.
    stamp: wholeOf(plan?.Stamp) ?? now.getTime() * 10,
    turn: wholeOf(headers['annex-turn']) ?? turn,
    timeoutSeconds: wholeOf(headers['annex-timeout-seconds']) || executionLimits.timeoutSeconds.usual,
    files: {},
    amqp: { messageId: messageId ?? id, replyTo: textOf(plan?.ReplyTo) ?? textOf(properties.replyTo) },
    ...(protectedParameters !== undefined && { protectedParameters, protectedParametersCertThumbprint }),
  };
  const whole = `${JSON.stringify(lead).slice(0, -1)},"plan":${plan === null ? 'null' : text}}`;
  const envelope = executionEnvelope.safeParse(JSON.parse(whole));
  return envelope.success ? { text: whole, envelope: envelope.data } : null;
}

function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const wholeOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

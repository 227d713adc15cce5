import type { Options } from 'amqplib';
import { formatOf, parseExactJson } from '#protocol/executions/index.ts';
import type { PlanToPublish } from '#server/domain/executions/index.ts';

/** A message for the broker's default exchange. */
export interface OutgoingMessage {
  routingKey: string;
  content: Buffer;
  options: Options.Publish;
}

/** Returns the message with which a plan is sent to a VM's agent. `results` is the queue for the agent's answers. */
export function messageOf(plan: PlanToPublish, { results, now }: { results: string; now: Date }): OutgoingMessage {
  const msLeft = Math.max(1, plan.expiresAt.getTime() - now.getTime());
  return {
    routingKey: plan.inputQueue,
    content: Buffer.from(withSecrets(completePlan(plan.text), plan.secrets)),
    options: {
      mandatory: true,
      persistent: true,
      contentType: 'application/json',
      contentEncoding: 'utf-8',
      expiration: String(msLeft),
      messageId: plan.planId,
      replyTo: results,
      // The Murano agent's AMQP library cannot read headers that contain numbers, and then loses the plan.
      ...(plan.dialect === 'annex' && {
        headers: { 'annex-turn': plan.turn, 'annex-timeout-seconds': plan.timeoutSeconds },
      }),
    },
  };
}

/** Adds encrypted parameters to a plan. Annex's agent reads them there, because they may be too long for a header. */
function withSecrets(text: string, secrets: PlanToPublish['secrets']): string {
  if (Object.keys(secrets).length === 0) return text;
  return `${text.trimEnd().slice(0, -1)},${JSON.stringify(secrets).slice(1)}`;
}

/**
 * Returns a plan with every property that the Murano agent requires, even if it is empty (MU-18). A plan in format
 * vCurrent is returned unchanged, because it may be for Murano's agent for Windows, which reads only this format.
 */
export function completePlan(text: string): string {
  const plan = parseExactJson(text) as Record<string, unknown>;
  if (formatOf(plan) === 'v-current') return text;
  const { Action: action = 'Execute', Files: files = {}, Scripts: scripts = {} } = plan;
  const complete = {
    ...plan,
    Action: action,
    Scripts: Object.fromEntries(
      Object.entries(scripts as Record<string, object>).map(([name, script]) => [
        name,
        'Options' in script ? script : { ...script, Options: {} },
      ]),
    ),
    Files: files,
  };
  return JSON.stringify(complete);
}

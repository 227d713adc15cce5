import type { ExecutionEnvelope } from '#protocol/executions/index.ts';
import { sentenceOf } from '../agent-error.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { maskedTexts } from '../handler/mask.ts';
import { openSealed } from '../identity/open-sealed.ts';

/** Secret parameters with the texts to mask, or the reason why they could not be decrypted. */
export type SecretParameters = { parameters: Record<string, unknown>; texts: string[] } | { fault: string };

/** Decrypts the secret parameters of an execution with one of this machine's keys. */
export function secretParameters(layout: AgentLayout, envelope: ExecutionEnvelope): SecretParameters {
  const { protectedParameters: sealed, protectedParametersCertThumbprint: thumbprint } = envelope;
  if (sealed === undefined || thumbprint === undefined) return { parameters: {}, texts: [] };
  try {
    const opened = openSealed(layout, thumbprint, sealed);
    if (typeof opened !== 'object' || opened === null)
      return { fault: 'The secret parameters cannot be decrypted: this machine does not have their key.' };
    return { parameters: { ...opened }, texts: maskedTexts(opened) };
  } catch (error) {
    return { fault: `The secret parameters cannot be decrypted: ${sentenceOf(error)}.` };
  }
}

import { z } from 'zod';
import { AgentError } from '../agent-error.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { readJson, readText } from '../folder/write-file.ts';

/** `agent.json`: the identity of this machine. */
export const identityFile = z.object({
  portal: z.url(),
  name: z.string(),
  thumbprint: z.string(),
  /** Thumbprint of a new certificate that the portal has not confirmed. */
  nextThumbprint: z.string().nullish(),
  /** Thumbprint of the key for a repeated enrollment that the portal has not confirmed. */
  againThumbprint: z.string().nullish(),
  /** Null until the portal has responded to the enrollment. */
  vmId: z.string().nullable(),
  enrolledAt: z.string().nullable(),
  pollSeconds: z.number().nullable(),
});
export type IdentityFile = z.infer<typeof identityFile>;

export interface Identity extends IdentityFile {
  vmId: string;
  credential: string;
}

/** Returns the identity file, or null if it is missing or invalid. */
export function readIdentityFile(layout: AgentLayout): IdentityFile | null {
  const parsed = identityFile.safeParse(readJson(layout.identity));
  return parsed.success ? parsed.data : null;
}

/** Returns the identity of an enrolled machine. Throws AgentError if the machine is not enrolled. */
export function loadIdentity(layout: AgentLayout): Identity {
  const file = readIdentityFile(layout);
  const credential = readText(layout.credential)?.trim();
  if (file?.vmId == null || !credential) {
    throw new AgentError(
      `${layout.root} has no enrolled agent. Enroll first: enroll --portal URL --dir ${layout.root}`,
    );
  }
  return { ...file, vmId: file.vmId, credential };
}

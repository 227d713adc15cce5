import { z } from 'zod';
import { AgentError } from '../agent-error.ts';
import type { Layout } from '../folder/layout.ts';
import { readJson, readText } from '../folder/write-file.ts';

/** `agent.json`: who this machine is, and for whom. */
export const identityFile = z.object({
  portal: z.url(),
  name: z.string(),
  thumbprint: z.string(),
  /** Of a new certificate that the portal has not answered for yet. */
  nextThumbprint: z.string().nullish(),
  /** Of the key with which this machine asks to be enrolled once more, while the portal has not answered. */
  againThumbprint: z.string().nullish(),
  /** Null until the portal has answered the enrolment. */
  vmId: z.string().nullable(),
  enrolledAt: z.string().nullable(),
  pollSeconds: z.number().nullable(),
});
export type IdentityFile = z.infer<typeof identityFile>;

export interface Identity extends IdentityFile {
  vmId: string;
  credential: string;
}

/** The identity file, or null where there is none, or none that can be read. */
export function readIdentityFile(layout: Layout): IdentityFile | null {
  const parsed = identityFile.safeParse(readJson(layout.identity));
  return parsed.success ? parsed.data : null;
}

/** The identity of an enrolled machine. Throws AgentError where it is not enrolled. */
export function loadIdentity(layout: Layout): Identity {
  const file = readIdentityFile(layout);
  const credential = readText(layout.credential)?.trim();
  if (file?.vmId == null || !credential) {
    throw new AgentError(
      `${layout.root} holds no enrolled agent. Enrol it first: enroll --portal URL --token T --dir ${layout.root}`,
    );
  }
  return { ...file, vmId: file.vmId, credential };
}

import { sign } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { AgentError } from '../agent-error.ts';
import { type Layout, layoutOf } from '../folder/layout.ts';
import { lockFolder } from '../folder/lock.ts';
import { discard, readText, writeJson, writeWhole } from '../folder/write-file.ts';
import { createKey } from '../identity/create-key.ts';
import { type IdentityFile, readIdentityFile } from '../identity/identity.ts';
import { operatingSystem } from '../identity/operating-system.ts';
import type { Caller } from '../portal/call.ts';
import { plainHttpAdvice, plainHttpWarning } from '../portal/plain-http.ts';
import { enrollAt } from '../portal/portal.ts';

export interface EnrollOptions {
  portal: string;
  token: string;
  dir: string;
  /** The common name of the certificate; the machine's host name where it is absent. */
  name?: string;
  /** Enrols a machine that is enrolled: a copy of another one, or one whose credential is dead. */
  again?: boolean;
  /** The way to the portal. */
  call: Caller;
}

/**
 * Makes key and certificate, enrols at the portal and keeps the credential. Where the answer was lost, running it again
 * uses the same key, and the portal repeats its answer.
 */
export async function enroll(options: EnrollOptions, print: (line: string) => void): Promise<void> {
  const layout = layoutOf(options.dir);
  const warning = plainHttpWarning(options.portal);
  if (warning !== null) print(`Warning: ${warning} ${plainHttpAdvice}`);
  const portal = new URL(options.portal).href.replace(/\/+$/, '');
  const unlock = lockFolder(layout);
  try {
    const earlier = readIdentityFile(layout);
    if (earlier?.vmId != null && options.again !== true) {
      throw new AgentError(
        `${layout.root} is enrolled at ${earlier.portal} as VM ${earlier.vmId}. Use another --dir, or --again to give this machine a new identity.`,
      );
    }
    const identity = earlier?.vmId == null ? await pendingIdentity(earlier, portal) : await otherIdentity(earlier);
    const certificate = readText(join(layout.certificates, `${identity.thumbprint}.crt`)) ?? '';
    const enrolment = {
      enrollmentToken: options.token,
      certificate,
      proof: proofOf(layout, identity.thumbprint, options.token),
      os: operatingSystem(),
    };
    const answer = await enrollAt(portal, enrolment, options.call);
    // What waits to be told is about the earlier VM. Handlers stay, they are on this machine whoever it is.
    for (const path of [layout.reports, layout.uploads, layout.goalState, layout.calls]) discard(path);
    writeWhole(layout.credential, `${answer.credential}\n`, 0o600);
    writeJson(layout.identity, {
      ...identity,
      portal,
      vmId: answer.vmId,
      enrolledAt: new Date().toISOString(),
      pollSeconds: answer.pollSeconds,
    } satisfies IdentityFile);
    print(`Enrolled at ${portal} as VM ${answer.vmId}.`);
    print(`Certificate ${identity.thumbprint}; its private key is in ${layout.certificates}.`);
    print(`Next: run --dir ${options.dir}`);
  } finally {
    unlock();
  }

  /** The earlier identity holds until the portal has answered; its key stays until nothing uses it. */
  async function otherIdentity(earlier: IdentityFile): Promise<IdentityFile> {
    let thumbprint = earlier.againThumbprint;
    if (!thumbprint || readText(join(layout.certificates, `${thumbprint}.crt`)) === null) {
      thumbprint = (await createKey(layout, options.name ?? earlier.name)).thumbprint;
      writeJson(layout.identity, { ...earlier, againThumbprint: thumbprint } satisfies IdentityFile);
    }
    return { ...earlier, thumbprint, againThumbprint: null, nextThumbprint: null };
  }

  async function pendingIdentity(earlier: IdentityFile | null, portal: string): Promise<IdentityFile> {
    if (earlier !== null && readText(join(layout.certificates, `${earlier.thumbprint}.crt`)) !== null) return earlier;
    const name = options.name ?? hostname();
    const { thumbprint } = await createKey(layout, name);
    const identity = { portal, name, thumbprint, vmId: null, enrolledAt: null, pollSeconds: null };
    writeJson(layout.identity, identity);
    return identity;
  }
}

/** Shows that this machine has the key of its certificate: the token, signed with it. */
function proofOf(layout: Layout, thumbprint: string, token: string): string | undefined {
  const key = readText(join(layout.certificates, `${thumbprint}.prv`));
  return key === null ? undefined : sign('sha256', Buffer.from(token), key).toString('base64');
}

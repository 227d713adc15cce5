import { sign } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { AgentError } from '../agent-error.ts';
import { type AgentLayout, layoutOf } from '../folder/layout.ts';
import { lockFolder } from '../folder/lock.ts';
import { discard, readText, writeAtomically, writeJson } from '../folder/write-file.ts';
import { createKey } from '../identity/create-key.ts';
import { type IdentityFile, readIdentityFile } from '../identity/identity.ts';
import { operatingSystem } from '../identity/operating-system.ts';
import type { Caller } from '../portal/call.ts';
import { localAddressTo } from '../portal/local-address.ts';
import { plainHttpAdvice, plainHttpWarning } from '../portal/plain-http.ts';
import { enrollAt } from '../portal/portal.ts';
import { authoritiesIn } from '../portal/route.ts';
import { agentVersion } from '../version.ts';

export interface EnrollOptions {
  portal: string;
  token: string;
  dir: string;
  /** Common name of the certificate; by default, the host name or, with `again`, the earlier name. */
  name?: string;
  /** Replaces an existing identity: for a copied machine, or if the credential no longer works. */
  again?: boolean;
  /** PEM file with additional certificate authorities, which the agent keeps. */
  ca?: string;
  /** The instance id of the VM's role, if the VM is a machine of a model. */
  instanceId?: string;
  /** The machine's address in the model's network; by default, the local address of the connection to the portal. */
  internalAddress?: string;
  call: Caller;
}

/** Returns what an instance of a role reports; nothing for a machine of no model. */
async function instanceOf({ instanceId, internalAddress }: EnrollOptions, portal: string) {
  if (instanceId === undefined) return {};
  return { instance: { id: instanceId, address: internalAddress ?? (await localAddressTo(new URL(portal))) } };
}

/**
 * Creates a key and certificate, enrolls with the portal and stores the credential. If the response was lost, running
 * the command again uses the same key, and the portal repeats its response.
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
    const enrollment = {
      enrollmentToken: options.token,
      certificate,
      proof: proofOf(layout, identity.thumbprint, options.token),
      os: operatingSystem(),
      ...(await instanceOf(options, portal)),
    };
    const answer = await enrollAt(portal, enrollment, options.call);
    // Queued reports belong to the earlier VM. The record of handlers is kept, because the handlers are still installed
    // on this machine.
    for (const path of [layout.reports, layout.uploads, layout.goalState, layout.calls]) discard(path);
    if (options.ca !== undefined) writeAtomically(layout.authorities, authoritiesIn(options.ca), 0o644);
    writeAtomically(layout.credential, `${answer.credential}\n`, 0o600);
    writeJson(layout.identity, {
      ...identity,
      portal,
      vmId: answer.vmId,
      enrolledAt: new Date().toISOString(),
      pollSeconds: answer.pollSeconds,
    } satisfies IdentityFile);
    writeJson(layout.described, { vmId: answer.vmId, version: agentVersion });
    print(`Enrolled at ${portal} as VM ${answer.vmId}.`);
    print(`Certificate ${identity.thumbprint}; its private key is in ${layout.certificates}.`);
    print(`Next: run --dir ${options.dir}`);
  } finally {
    unlock();
  }

  /**
   * Returns an identity with a new key. The earlier identity stays valid until the portal has responded. The earlier
   * key is kept until nothing uses it.
   */
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

/** Signs the token with the certificate's key, to prove that this machine has that key. */
function proofOf(layout: AgentLayout, thumbprint: string, token: string): string | undefined {
  const key = readText(join(layout.certificates, `${thumbprint}.prv`));
  return key === null ? undefined : sign('sha256', Buffer.from(token), key).toString('base64');
}

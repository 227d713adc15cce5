import { sign } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { GoalState, GoalStateExtension } from '#protocol/index.ts';
import { AgentError } from '../agent-error.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { discard, readText, writeJson } from '../folder/write-file.ts';
import { sealedPartOf, settingsInForce } from '../handler/secrets-of.ts';
import { type Portal, PortalRefusal } from '../portal/portal.ts';
import { createKey } from './create-key.ts';
import { type IdentityFile, readIdentityFile } from './identity.ts';
import type { KeyCopies } from './key-copies.ts';

/** Whether a renewal was started and its response has not arrived. */
export function isRenewing(layout: AgentLayout): boolean {
  return readIdentityFile(layout)?.nextThumbprint != null;
}

/**
 * Creates a new key pair and makes the portal encrypt settings for it, authorized by the old key. If a renewal was
 * interrupted, the next call resumes with the same new key, and the portal repeats its response. Returns the new
 * thumbprint. Throws if the old key is missing, or if the portal rejects the renewal or does not respond.
 */
export async function renewKey(layout: AgentLayout, portal: Portal): Promise<string> {
  const identity = readIdentityFile(layout);
  const oldKey = identity === null ? null : readText(join(layout.certificates, `${identity.thumbprint}.prv`));
  if (identity === null || oldKey === null) {
    throw new AgentError(`The key of this machine is not in ${layout.certificates}. Enroll it again: enroll --again`);
  }
  const next = await nextKey(layout, identity);
  const proof = sign('sha256', Buffer.from(next.certificatePem), oldKey).toString('base64');
  try {
    await portal.renewCertificate(next.certificatePem, proof);
  } catch (error) {
    // The portal has permanently rejected this key, so the next attempt creates another key.
    if (error instanceof PortalRefusal && [409, 422].includes(error.status) && error.code !== 'duplicate_agent') {
      writeJson(layout.identity, { ...identity, nextThumbprint: null } satisfies IdentityFile);
    }
    throw error;
  }
  writeJson(layout.identity, { ...identity, thumbprint: next.thumbprint, nextThumbprint: null } satisfies IdentityFile);
  return next.thumbprint;
}

async function nextKey(layout: AgentLayout, identity: IdentityFile) {
  const thumbprint = identity.nextThumbprint;
  const certificatePem = thumbprint && readText(join(layout.certificates, `${thumbprint}.crt`));
  if (thumbprint && certificatePem) return { thumbprint, certificatePem };
  const made = await createKey(layout, identity.name);
  writeJson(layout.identity, { ...identity, nextThumbprint: made.thumbprint } satisfies IdentityFile);
  return made;
}

/**
 * Deletes the key copies that no settings need. Also deletes keys, except the current key, a pending key, and keys that
 * the goal state, the current settings of an unpacked handler or an open execution (`keysInUse`) need. Settings files
 * encrypted for a deleted key are kept, but can no longer be decrypted.
 */
export function sweepKeys(
  layout: AgentLayout,
  copies: KeyCopies,
  goal: GoalState | null,
  keysInUse: readonly string[] = [],
): void {
  const identity = readIdentityFile(layout);
  if (goal === null || identity === null || !existsSync(layout.certificates)) return;
  const inForce = keysInForce(layout);
  const staying = goal.extensions.filter(({ state }) => state !== 'uninstall');
  copies.keepOnly(new Set([...inForce, ...staying.map(thumbprintOf)]));
  const own = [identity.thumbprint, identity.nextThumbprint, identity.againThumbprint];
  const used = new Set([...own, ...inForce, ...goal.extensions.map(thumbprintOf), ...keysInUse]);
  for (const name of readdirSync(layout.certificates)) {
    const thumbprint = /^([0-9A-F]{40})\.(crt|prv)$/.exec(name)?.[1];
    if (thumbprint !== undefined && !used.has(thumbprint)) discard(join(layout.certificates, name));
  }
}

const thumbprintOf = ({ settings }: GoalStateExtension) => settings.protectedSettingsCertThumbprint?.toUpperCase();

/** Returns the thumbprints of the keys that the current settings of the unpacked handlers need. */
function keysInForce(layout: AgentLayout): (string | undefined)[] {
  const handlers = existsSync(layout.handlers) ? readdirSync(layout.handlers) : [];
  return handlers
    .flatMap((handler) => settingsInForce(join(layout.handlers, handler, 'config')))
    .map((file) => sealedPartOf(file).protectedSettingsCertThumbprint?.toUpperCase());
}

import type { Context } from '#server/domain/context.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { type Keys, keyedDigest, seal, unseal } from '#server/platform/keys.ts';

/** Which settings an encrypted secret belongs to. */
interface SecretOf {
  serviceId: string;
  version: number;
}

/** Authenticated data that binds a secret to its service and version, so that it cannot be decrypted for another version. */
const boundTo = ({ serviceId, version }: SecretOf): string => `${serviceId}/${version}`;

/** Encrypts the protected settings of a service. `plain` is their JSON text. */
export const sealServiceSecret = ({ sealing }: Pick<Keys, 'sealing'>, of: SecretOf, plain: Buffer): Buffer =>
  seal(sealing, plain, boundTo(of));

/** Decrypts the protected settings of a service. Returns their JSON text, which the caller clears. */
export function openServiceSecret(
  { keys }: { keys: Pick<Keys, 'sealing'> },
  { secret, ...of }: SecretOf & { secret: Buffer },
): Buffer {
  return unseal(keys.sealing, secret, boundTo(of));
}

/** Returns a fingerprint that shows whether the protected settings of a service changed. */
export const secretFingerprint = ({ keys }: Pick<Context, 'keys'>, serviceId: string, value: unknown): string =>
  keyedDigest(keys.fingerprint, serviceId, canonicalJson(value)).toString('base64url');

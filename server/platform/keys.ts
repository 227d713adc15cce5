import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** The keys derived from the secret key, one for each purpose. */
export interface Keys {
  sealing: Buffer;
  fingerprint: Buffer;
  session: Buffer;
  credential: Buffer;
  tenant: Buffer;
  totp: Buffer;
  recovery: Buffer;
  challenge: Buffer;
  plan: Buffer;
  /** Key that seals and links the entries of the activity log. */
  audit: Buffer;
  /**
   * A value that the database stores, so that the portal can check at startup that it has the right secret key. It
   * reveals nothing about the key.
   */
  check: string;
}

const derive = (secret: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'annex', purpose, 32));

/** Derives all keys from the secret, which has at least 32 bytes. */
export function deriveKeys(secret: Buffer): Keys {
  return {
    sealing: derive(secret, 'sealing'),
    fingerprint: derive(secret, 'fingerprint'),
    session: derive(secret, 'session'),
    credential: derive(secret, 'credential'),
    tenant: derive(secret, 'tenant'),
    totp: derive(secret, 'totp'),
    recovery: derive(secret, 'recovery'),
    challenge: derive(secret, 'challenge'),
    plan: derive(secret, 'plan'),
    audit: derive(secret, 'audit'),
    check: derive(secret, 'check').toString('base64url'),
  };
}

/**
 * Encrypts with AES-256-GCM. Returns nonce (12 bytes) ‖ tag (16) ‖ ciphertext. `bound` is authenticated too, and
 * decryption requires the same value.
 */
export function seal(key: Buffer, plain: Buffer, bound: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(bound));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/** Decrypts the result of `seal`. Throws if the key, `bound` or the bytes differ. */
export function unseal(key: Buffer, sealed: Buffer, bound: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAAD(Buffer.from(bound));
  decipher.setAuthTag(sealed.subarray(12, 28));
  return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]);
}

/** Returns a keyed digest. Without the key, digests reveal only whether their inputs are equal. */
export function keyedDigest(key: Buffer, ...parts: string[]): Buffer {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(`${Buffer.byteLength(part)}:`).update(part);
  return mac.digest();
}

/** Compares two byte strings in constant time. */
export function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Returns SHA-256 in lowercase hex, as tokens and credentials are stored. */
export function sha256Hex(data: string | Buffer): string {
  return hash('sha256', data, 'hex');
}

/** Creates a 256-bit secret with a prefix that scanners and people recognize, such as `annex_token_…`. */
export function newToken(kind: string): string {
  return `annex_${kind}_${randomBytes(32).toString('base64url')}`;
}

import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { isoCBOR } from '@simplewebauthn/server/helpers';

/** How a response deviates from that of an honest authenticator. */
export interface Twist {
  origin?: string;
  rpId?: string;
  challenge?: string;
  userVerified?: boolean;
  counter?: number;
  id?: string;
  type?: string;
}

const base64url = (data: Uint8Array | string): string => Buffer.from(data).toString('base64url');
const sha256 = (data: Uint8Array | string): Buffer => createHash('sha256').update(data).digest();

/** Creates a software authenticator with one passkey: ES256, no attestation. */
export function openAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(16);
  let counter = 0;
  let userHandle: string | undefined;

  const clientData = (type: string, challenge: string, twist: Twist): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: twist.type ?? type,
        challenge: twist.challenge ?? challenge,
        origin: twist.origin ?? origin,
        crossOrigin: false,
      }),
    );

  /** Returns rpIdHash ‖ flags ‖ counter ‖ attested data. */
  const authenticatorData = (rpId: string, twist: Twist, attested = Buffer.alloc(0)): Buffer => {
    const flags = 0x01 | (twist.userVerified === false ? 0 : 0x04) | (attested.length > 0 ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(twist.counter ?? counter);
    return Buffer.concat([sha256(twist.rpId ?? rpId), Buffer.from([flags]), count, attested]);
  };

  return {
    id: base64url(id),

    /** Returns the browser's response after creating the passkey with these options. */
    create(options: PublicKeyCredentialCreationOptionsJSON, twist: Twist = {}) {
      userHandle = options.user.id;
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const key = new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
        [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
      ]);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const attested = Buffer.concat([Buffer.alloc(16), length, id, isoCBOR.encode(key)]);
      const attestation = new Map<string, string | Uint8Array | Map<string, never>>([
        ['fmt', 'none'],
        ['attStmt', new Map<string, never>()],
        ['authData', new Uint8Array(authenticatorData(options.rp.id ?? '', twist, attested))],
      ]);
      return {
        id: twist.id ?? base64url(id),
        rawId: twist.id ?? base64url(id),
        type: 'public-key' as const,
        response: {
          clientDataJSON: base64url(clientData('webauthn.create', options.challenge, twist)),
          attestationObject: base64url(isoCBOR.encode(attestation)),
          transports: ['internal'],
        },
      };
    },

    /** Returns the browser's response after signing the challenge of these options. The counter increases each time. */
    get(options: PublicKeyCredentialRequestOptionsJSON, twist: Twist = {}) {
      counter += 1;
      const client = clientData('webauthn.get', options.challenge, twist);
      const data = authenticatorData(options.rpId ?? '', twist);
      return {
        id: twist.id ?? base64url(id),
        rawId: twist.id ?? base64url(id),
        type: 'public-key' as const,
        response: {
          clientDataJSON: base64url(client),
          authenticatorData: base64url(data),
          signature: base64url(sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)),
          ...(userHandle === undefined ? {} : { userHandle }),
        },
      };
    },
  };
}

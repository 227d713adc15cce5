import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';

/** Loads the library when it is first needed, not with the page. */
const load = () => import('@simplewebauthn/browser');

/** Why the browser returned no passkey. The values are keys of sentences in `auth`. */
export type PasskeyTrouble = 'cancelled' | 'here' | 'known' | 'failed';

/** Thrown if the browser returned no passkey. `trouble` says why. */
export class PasskeyError extends Error {
  override readonly name = 'PasskeyError';
  readonly trouble: PasskeyTrouble;

  constructor(trouble: PasskeyTrouble, cause: unknown) {
    super(trouble, { cause });
    this.trouble = trouble;
  }
}

/** Whether this browser can use passkeys for this host. */
export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && isSecureContext && mayHavePasskeys(location.hostname);
}

/** Whether a portal on this host can use passkeys. If the host is an IP address, it cannot. */
export const mayHavePasskeys = (host: string): boolean => !/^[\d.]+$/.test(host) && !host.startsWith('[');

/**
 * Requests a signature. With `byField`, offers passkeys as suggestions of a field instead of in a dialog, until
 * `cancelPasskeyRequest` is called. Throws `PasskeyError`.
 */
export async function signWithPasskey(options: PublicKeyCredentialRequestOptionsJSON, byField = false) {
  const { startAuthentication } = await load();
  return startAuthentication({
    optionsJSON: options,
    useBrowserAutofill: byField,
    verifyBrowserAutofillInput: false,
  }).catch(raise);
}

/** Creates a passkey. Throws `PasskeyError`. */
export async function createPasskey(options: PublicKeyCredentialCreationOptionsJSON) {
  const { startRegistration } = await load();
  return startRegistration({ optionsJSON: options }).catch(raise);
}

/** Whether the browser can offer passkeys among the suggestions of a field. */
export async function canOfferByField(): Promise<boolean> {
  return canUsePasskeys() && (await load()).browserSupportsWebAuthnAutofill();
}

/** Cancels a pending request, such as the request behind a field's suggestions. */
export async function cancelPasskeyRequest(): Promise<void> {
  (await load()).WebAuthnAbortService.cancelCeremony();
}

function raise(error: unknown): never {
  const name = error instanceof Error ? error.name : '';
  if (name === 'NotAllowedError' || name === 'AbortError') throw new PasskeyError('cancelled', error);
  if (name === 'InvalidStateError') throw new PasskeyError('known', error);
  if (name === 'SecurityError') throw new PasskeyError('here', error);
  throw new PasskeyError('failed', error);
}

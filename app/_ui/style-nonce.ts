import { setNonce } from 'get-nonce';

/**
 * Returns the nonce that the page's Content Security Policy requires for style sheets created by scripts; undefined
 * without a policy. Browser only.
 */
export function styleNonce(): string | undefined {
  return document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce || undefined;
}

/** Passes the nonce to the library that locks scrolling behind a dialog. Browser only. */
export function allowScrollLock(): void {
  const nonce = styleNonce();
  if (nonce !== undefined) setNonce(nonce);
}

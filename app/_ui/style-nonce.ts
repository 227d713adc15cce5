import { setNonce } from 'get-nonce';

/**
 * The number that this page's policy asks of style sheets made by scripts; undefined where there is no policy.
 * Browsers show it to scripts only. Browser only.
 */
export function styleNonce(): string | undefined {
  return document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce || undefined;
}

/** Tells it to the library that locks the page's scrolling behind a dialog. Browser only. */
export function allowScrollLock(): void {
  const nonce = styleNonce();
  if (nonce !== undefined) setNonce(nonce);
}

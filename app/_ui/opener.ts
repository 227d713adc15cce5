/** The focused element when a dialog first renders. Menu items disappear with their menu, so theirs is its button. */
export function currentOpener(): HTMLElement | null {
  if (typeof document === 'undefined') return null;
  const focused = document.activeElement;
  const menu = focused?.closest('[role="menu"]');
  const opener = menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : focused;
  return opener instanceof HTMLElement && opener !== document.body ? opener : null;
}

/** Restores the focus when the dialog has closed; for `onCloseAutoFocus`. */
export function restoreFocus(event: Event, opener: HTMLElement | null): void {
  if (opener?.isConnected !== true) return;
  event.preventDefault();
  opener.focus();
}

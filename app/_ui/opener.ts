/**
 * Returns the element that opened a dialog; null if there is none. Call it when the dialog first renders. A menu item
 * disappears with its menu, so the menu's button is returned instead.
 */
export function currentOpener(): HTMLElement | null {
  if (typeof document === 'undefined') return null;
  const focused = document.activeElement;
  const menu = focused?.closest('[role="menu"]');
  const opener = menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : focused;
  return opener instanceof HTMLElement && opener !== document.body ? opener : null;
}

/** Returns focus to the opener after the dialog closes. Call it in `onCloseAutoFocus`. */
export function restoreFocus(event: Event, opener: HTMLElement | null): void {
  if (opener?.isConnected !== true) return;
  event.preventDefault();
  opener.focus();
}

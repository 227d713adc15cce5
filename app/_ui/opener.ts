/** Who has the keyboard while a dialog is first drawn. Items leave together with their menu, so theirs is its button. */
export function currentOpener(): HTMLElement | null {
  if (typeof document === 'undefined') return null;
  const focused = document.activeElement;
  const menu = focused?.closest('[role="menu"]');
  const opener = menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : focused;
  return opener instanceof HTMLElement && opener !== document.body ? opener : null;
}

/** Gives the keyboard back when the dialog has closed; for `onCloseAutoFocus`. */
export function giveBack(event: Event, opener: HTMLElement | null): void {
  if (opener?.isConnected !== true) return;
  event.preventDefault();
  opener.focus();
}

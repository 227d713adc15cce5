const firstFieldIn = (sheet: HTMLElement) =>
  sheet.querySelector<HTMLElement>('input:not([disabled]), select, textarea');

/**
 * Focuses the first field of a dialog that opens. If there is no field yet, Radix focuses the close button, and the
 * first field gets the focus when it has loaded.
 */
export function focusFirstField(event: Event): void {
  const sheet = event.currentTarget;
  if (!(sheet instanceof HTMLElement)) return;
  const field = firstFieldIn(sheet);
  if (field === null) {
    focusWhenLoaded(sheet);
    return;
  }
  event.preventDefault();
  field.focus();
}

/** Moves the focus from the close button to the first field that appears, unless the reader moved it before. */
function focusWhenLoaded(sheet: HTMLElement): void {
  const close = sheet.querySelector('button');
  const observer = new MutationObserver(() => {
    const field = firstFieldIn(sheet);
    if (field === null) return;
    observer.disconnect();
    if (document.activeElement === close) field.focus();
  });
  observer.observe(sheet, { childList: true, subtree: true });
}

/** What the reader typed after the shortcut, before the palette could receive it. */
let typed = '';

/** Returns the text that was typed before the palette opened. Returns it only once. */
export function takeTypedAhead(): string {
  const text = typed;
  typed = '';
  return text;
}

/**
 * Collects the keys until the palette has the focus, so that no key is lost or acts on the page. Escape calls
 * `onEscape`. Returns a function that stops collecting.
 */
export function collectTypedAhead(onEscape: () => void): () => void {
  const collect = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.activeElement?.closest('[role="dialog"]')) return;
    if (event.key === 'Escape') onEscape();
    else if (event.key === 'Backspace') typed = typed.slice(0, -1);
    else if (event.key.length === 1) typed += event.key;
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener('keydown', collect, { capture: true });
  return () => {
    document.removeEventListener('keydown', collect, { capture: true });
    typed = '';
  };
}

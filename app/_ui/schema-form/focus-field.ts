/**
 * Returns the field of a form whose `data-at` is `place`, a JSON pointer that can have a prefix, or the nearest group
 * that contains it.
 */
export function fieldAt(place: string): Element | null {
  for (let at = place; at.includes('/'); at = at.slice(0, at.lastIndexOf('/'))) {
    const field = document.querySelector(`[data-at="${CSS.escape(at)}"]`);
    if (field !== null) return field;
  }
  return place.startsWith('protected:') ? document.querySelector('[data-at^="protected:"]') : null;
}

/** Shows a field and moves the focus to its control. */
export function focusField(field: Element): void {
  field.closest('details')?.setAttribute('open', '');
  field.querySelector<HTMLElement>(':is(input, textarea, select, button):enabled')?.focus();
  field.scrollIntoView({ block: 'center' });
}

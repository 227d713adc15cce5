const overlays = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]';
const parts = 'section, article, li, tr, form, nav, main, [role="region"], [role="group"]';

/**
 * Keeps the focus on the page, until the returned function is called. If a button disappears after its action, or a
 * dialog replaces another dialog, the browser moves the focus to the document, and Tab starts again at the top. This
 * moves the focus to the last focused element outside of dialogs or, if that element is gone, to the part of the page
 * that contained it.
 */
export function keepFocus(): () => void {
  let focused: Element | null = document.activeElement;
  /** The last focused element outside of dialogs, or the button of a menu, with the elements around it, innermost first. */
  let trail: Element[] = [];
  const note = ({ target }: FocusEvent): void => {
    if (!(target instanceof Element)) return;
    focused = target;
    const outside = target.closest(overlays) === null ? target : buttonOfMenu(target);
    if (outside !== null) trail = withAncestors(outside);
  };
  // After a click elsewhere, the reader has left the element, even if nothing else receives the focus.
  const forget = (): void => {
    focused = null;
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const restore = (): void => {
    timer = undefined;
    if (isLost(focused)) focusFirst(trail);
  };
  // Waits, because dialogs and menus return the focus in a separate task after their removal.
  const check = (): void => {
    if (timer === undefined && isLost(focused)) timer = setTimeout(restore, 50);
  };
  const observer = new MutationObserver(check);
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled', 'hidden'] });
  document.addEventListener('focusin', note);
  document.addEventListener('pointerdown', forget, { capture: true });
  return () => {
    observer.disconnect();
    document.removeEventListener('focusin', note);
    document.removeEventListener('pointerdown', forget, { capture: true });
    clearTimeout(timer);
  };
}

/** Returns the button of the menu around an element. When a menu first opens, its button has not had the focus yet. */
function buttonOfMenu(element: Element): Element | null {
  const name = element.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  return name ? document.getElementById(name) : null;
}

function withAncestors(element: Element): Element[] {
  const path: Element[] = [];
  for (let at: Element | null = element; at !== null; at = at.parentElement) path.push(at);
  return path;
}

/** Whether the document has the focus because the focused element is gone, and not because the reader left it. */
function isLost(focused: Element | null): boolean {
  return focused !== null && document.activeElement === document.body && !canHaveFocus(focused);
}

/** Whether an element has a box and is enabled. An element with `display: contents` has no box. */
const canHaveFocus = (element: Element): boolean =>
  element.getClientRects().length > 0 && !element.matches(':disabled') && element.checkVisibility();

function focusFirst([element, ...around]: readonly Element[]): void {
  const place =
    element !== undefined && canHaveFocus(element)
      ? element
      : (around.find((each) => each.matches(parts) && canHaveFocus(each)) ?? document.getElementById('main'));
  if (!(place instanceof HTMLElement)) return;
  if (place !== element && !place.hasAttribute('tabindex')) {
    place.tabIndex = -1;
    place.addEventListener('blur', () => place.removeAttribute('tabindex'), { once: true });
  }
  place.focus({ preventScroll: true });
}

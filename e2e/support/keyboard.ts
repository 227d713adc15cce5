import { expect, type Locator, type Page } from '@playwright/test';

/** Tab presses after which an element counts as unreachable. */
const maxSteps = 80;

/** Presses Tab until this element has the focus, and expects the focus to be visible. */
export async function tabTo(page: Page, wanted: Locator): Promise<void> {
  await expect(wanted).toBeVisible();
  for (let step = 0; step < maxSteps; step++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) {
      // The focus ring appears with a short transition.
      await expect.poll(() => wanted.evaluate(showsFocus), `the focus on ${wanted} is seen`).toBe(true);
      return;
    }
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${wanted}.`);
}

/** Moves the focus to an element with Tab, and presses a key. */
export async function pressOn(page: Page, wanted: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, wanted);
  await page.keyboard.press(key);
}

/**
 * Expects that an element of the page has the focus, so that the next Tab continues there. After an action, the browser
 * moves the focus to the document if the focused element was removed or disabled.
 */
export async function expectFocusKept(page: Page): Promise<void> {
  const isKept = () => page.evaluate(() => document.activeElement !== document.body);
  await expect.poll(isKept, 'the focus is kept').toBe(true);
}

/** Runs in the page. Returns whether an element shows a focus ring, on itself or on the label or box around it. */
function showsFocus(element: HTMLElement | SVGElement): boolean {
  const around = element.closest('label, div') ?? element;
  const shadows = [
    getComputedStyle(element).boxShadow,
    getComputedStyle(element.parentElement ?? element).boxShadow,
    getComputedStyle(element, '::after').boxShadow,
    getComputedStyle(around).boxShadow,
  ];
  return shadows.some((shadow) => /0px 0px 0px [2-4]px/.test(shadow));
}

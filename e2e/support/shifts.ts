import { expect, type Page } from '@playwright/test';

/** A movement of a part of the page. */
export interface Shift {
  value: number;
  /** The elements that moved, and by how much. */
  moved: string[];
}

/** Records how much of the page moves without an action by the reader. Runs before the page's own scripts. */
export function recordShifts(): void {
  const shifts: Shift[] = [];
  Object.assign(window, { shifts });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & {
      value: number;
      hadRecentInput: boolean;
      sources: { node: Node | null; previousRect: DOMRect; currentRect: DOMRect }[];
    })[]) {
      if (entry.hadRecentInput) continue;
      const moved = entry.sources.map(({ node, previousRect: from, currentRect: to }) => {
        const element = node instanceof Element ? node : node?.parentElement;
        const name = element?.closest('[aria-label], [id]') ?? element;
        return `${element?.tagName} “${element?.textContent?.slice(0, 40)}” in ${name?.id || name?.getAttribute('aria-label')}: ${[from.x, from.y, from.width, from.height]} → ${[to.x, to.y, to.width, to.height]}`;
      });
      shifts.push({ value: entry.value, moved });
    }
  }).observe({ type: 'layout-shift', buffered: true });
}

/** Whether a shift is noticeable. A text that changes at the end of its line causes a smaller shift. */
export const isSeen = ({ value }: Shift): boolean => value > 0.001;

/** Returns the recorded shifts after the browser has drawn two more frames. */
export const shiftsOf = (page: Page): Promise<Shift[]> =>
  page.evaluate(async () => {
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
    return (window as unknown as { shifts: Shift[] }).shifts;
  });

/** Returns the shifts that a reader notices until the page is live. `recordShifts` must run before the page's scripts. */
export async function shiftsWhileLoading(page: Page): Promise<Shift[]> {
  await expect(page.locator('[data-live="live"]').or(page.locator('main:not([id])')).first()).toBeVisible();
  return (await shiftsOf(page)).filter(isSeen);
}
